/** The answering box: its machine and displays, its peers, the site's time, updates, and synchronization errors of pages. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Health } from '../../../service/contract/health.ts';
import { reasonOf } from '../api/errors.ts';
import type { ConsoleTexts } from '../texts/box.ts';
import type { Format } from '../texts/format.ts';
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
const screenTones = { starting: 'quiet', playing: 'good', recovering: 'warning', fallback: 'warning' } as const;

/** What the machine tells of itself; what it does not tell is left out. */
const machineFacts = (
  { uptime, memory, disk, temperature, throttled }: NonNullable<Health['machine']>,
  words: ConsoleTexts['boxes']['machine'],
  format: Format,
): [string, string][] => {
  const free = (of: number, total: number): string =>
    words.free({ free: format.bytes(of), total: format.bytes(total) });
  const degrees = temperature === null ? null : `${format.number(Math.round(temperature))} °C`;
  const warmth =
    throttled !== true ? degrees : degrees === null ? words.slowed : words.slowedBy({ temperature: degrees });
  const facts: [string, string | null][] = [
    [words.uptime, format.duration(uptime * 1000)],
    [words.memory, free(memory.available, memory.total)],
    [words.disk, disk === null ? null : free(disk.free, disk.total)],
    [words.temperature, warmth ?? words.notTold],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== null);
};

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
  const { peers, sync, kiosk, ffmpeg, machine } = health.value;
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
    ...(machine === undefined ? [] : machineFacts(machine, words.machine, format)),
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
      {kiosk !== undefined && kiosk.screens.length > 0 && (
        <>
          <h3>{words.displays}</h3>
          <ul class="peers">
            {kiosk.screens.map(({ display, deviceId, state, gpu, video_decode: decoder, video }) => (
              <li key={deviceId}>
                <span class="device-name">{display}</span>
                <span class={`state ${screenTones[state]}`}>{words.machine.screenState[state]}</span>
                <span class="soft">
                  {[
                    words.machine.gpu[gpu],
                    words.machine.decode[decoder],
                    ...(video === null ? [] : [words.machine.frames(video)]),
                  ].join(' · ')}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
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
