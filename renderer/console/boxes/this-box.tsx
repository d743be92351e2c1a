/** The answering box: its peers, the site's time, updates, and synchronization errors of pages. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Health } from '../../../service/contract/health.ts';
import { reasonOf } from '../api/errors.ts';
import { Chart } from '../ui/chart.tsx';
import { useConsole } from '../ui/context.tsx';

interface Sample {
  at: number;
  /** ms; null: not measured. */
  swaps: number | null;
  videos: number | null;
  offset: number;
}

const EVERY_MS = 5_000;
/** Ten minutes. */
const MOST = 120;

const tones = { alive: 'good', away: 'bad', unknown: 'quiet' } as const;

export const ThisBox = () => {
  const { client, clock, texts, format, site } = useConsole();
  const words = texts.boxes;
  const health = useSignal<Health | null>(null);
  const error = useSignal<unknown>(null);
  const samples = useSignal<readonly Sample[]>([]);
  useEffect(() => {
    let isOver = false;
    const look = async (): Promise<void> => {
      if (document.hidden) return;
      try {
        const found = await client.json<Health>('/healthz');
        if (isOver) return;
        const { swaps, videos, offset } = found.sync;
        const sample = { at: clock.now(), swaps: swaps?.p95 ?? null, videos: videos?.p95 ?? null, offset };
        health.value = found;
        error.value = null;
        samples.value = [...samples.value, sample].slice(-MOST);
      } catch (reason) {
        if (!isOver) error.value = reason;
      }
    };
    void look();
    const timer = setInterval(() => void look(), EVERY_MS);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, []);

  if (health.value === null) {
    return error.value === null ? null : <p class="notice bad">{reasonOf(error.value, texts)}</p>;
  }
  const { peers, sync, kiosk, ffmpeg } = health.value;
  const nameOf = (nodeId: string | null, url: string): string =>
    site.overview.value?.boxes.find((box) => box.nodeId === nodeId)?.name ?? url;
  const isReference = sync.reference === site.overview.value?.nodeId;
  const milliseconds = (value: number): string => `${format.number(Math.round(value * 10) / 10)} ms`;
  const facts: [string, string][] = [
    [
      words.clock,
      isReference
        ? words.isReference
        : words.follows({ box: nameOf(sync.reference, sync.reference), offset: milliseconds(sync.offset) }),
    ],
    ...(kiosk === undefined
      ? []
      : ([
          [
            words.updates,
            kiosk.updates.ready === null ? words.noUpdate : words.updateReady({ version: kiosk.updates.ready }),
          ],
          [words.displays, kiosk.displays.on ? words.lit : words.dark],
        ] as [string, string][])),
    [words.streams, ffmpeg === null ? words.noFfmpeg : `ffmpeg ${ffmpeg.version}`],
  ];
  const times = samples.value.map(({ at }) => at);
  const series = [
    { label: words.swaps, colour: 'accent', values: samples.value.map(({ swaps }) => swaps) },
    { label: words.videos, colour: 'good', values: samples.value.map(({ videos }) => videos) },
    { label: words.offset, colour: 'quiet', values: samples.value.map(({ offset }) => Math.abs(offset)) },
  ].filter(({ values }) => values.some((value) => value !== null));
  return (
    <section class="panel this-box">
      <h2>{words.thisBox}</h2>
      <dl class="facts">
        {facts.map(([name, fact]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{fact}</dd>
          </div>
        ))}
      </dl>
      <h3>{words.peers}</h3>
      {peers.length === 0 ? (
        <p class="soft">{words.noPeers}</p>
      ) : (
        <ul class="peers">
          {peers.map(({ nodeId, url, state, reason, lastContactAt }) => (
            <li key={`${nodeId} ${url}`}>
              <span class="device-name">{nameOf(nodeId, url)}</span>
              <span class={`state ${tones[state]}`}>
                {words.peer[state]}
                {state === 'away' &&
                  lastContactAt !== null &&
                  ` ${words.since({ time: format.when(lastContactAt, clock.now()) })}`}
              </span>
              <span class="soft">
                {url}
                {state === 'away' && reason !== null && ` · ${texts.ofBox(`The box ${reason}.`)}`}
              </span>
            </li>
          ))}
        </ul>
      )}
      {times.length > 1 && (
        <>
          <h3>{words.sync}</h3>
          <p class="soft">{words.syncAbout}</p>
          <Chart
            isStacked={false}
            times={times}
            series={series}
            spell={milliseconds}
            spellTime={(time) => format.exactTime(time)}
          />
        </>
      )}
    </section>
  );
};
