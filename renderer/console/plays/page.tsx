/** The plays: over time, by screen and by slide, with the gaps and their reasons. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { OpeningTime } from '../../../service/contract/kiosk.ts';
import { openSpans } from '../../../service/domain/opening-hours.ts';
import { addDays, instantOf, wallTimeOf } from '../../../service/domain/wall-time.ts';
import { reasonOf } from '../api/errors.ts';
import { mediumName } from '../model/document.ts';
import { createFigures, type Figures, type GapReason, gapReasons, readPlays } from '../model/figures.ts';
import { Chart } from '../ui/chart.tsx';
import { useConsole } from '../ui/context.tsx';
import { Button, Empty } from '../ui/controls.tsx';
import { Icon } from '../ui/icon.tsx';
import { Chip, Select, useScreenOptions } from '../ui/inputs.tsx';
import { ANSWER_MS, HOUR_MS, playsPath, savePlays } from './request.ts';

/** Days of a range; one day is shown by the hour. */
const ranges = [1, 7, 30] as const;
type Days = (typeof ranges)[number];

/** Rows of the tables. */
const SHOWN = 50;

const colours: Record<GapReason, string> = {
  closed: 'line',
  takeover: 'sun',
  blackout: 'quiet',
  redirect: 'edge',
  failed: 'bad',
  silent: 'warning',
};

interface Loaded {
  figures: Figures;
  bounds: readonly number[];
  isDegraded: boolean;
}

const boundsOf = (days: Days, now: number, timeZone: string): number[] => {
  const { date } = wallTimeOf(now, timeZone);
  const midnight = (ahead: number): number => instantOf(addDays(date, ahead), '00:00', timeZone);
  if (days > 1) return Array.from({ length: days + 1 }, (_, index) => midnight(index + 1 - days));
  const [start, end] = [midnight(0), midnight(1)];
  return Array.from({ length: Math.round((end - start) / HOUR_MS) + 1 }, (_, hour) => start + hour * HOUR_MS);
};

const Bar = ({ share }: { share: number }) => (
  <span class="share" aria-hidden="true">
    <span style={{ width: `${100 * share}%` }} />
  </span>
);

const Shown = ({ loaded: { figures, bounds, isDegraded }, days }: { loaded: Loaded; days: Days }) => {
  const { texts, format, site } = useConsole();
  const words = texts.plays;
  const hours = (ms: number): number => ms / HOUR_MS;
  const gaps = gapReasons.filter((reason) => figures.gaps[reason].some((ms) => ms > 0));
  const most = (list: readonly { seenMs: number }[]): number => Math.max(1, ...list.map(({ seenMs }) => seenMs));
  const total = (reason: GapReason): number => figures.gaps[reason].reduce((sum, ms) => sum + ms, 0);
  if (figures.slides.length === 0) {
    return (
      <Empty title={words.none}>
        <p>{words.noneTask}</p>
      </Empty>
    );
  }
  return (
    <>
      <p>
        {figures.failures === 0
          ? words.summary({ plays: figures.plays, time: format.duration(figures.seenMs) })
          : words.summaryFailures({
              plays: figures.plays,
              time: format.duration(figures.seenMs),
              failures: figures.failures,
            })}
        {figures.untrusted > 0 && ` ${words.untrusted({ plays: figures.untrusted })}`}
      </p>
      {isDegraded && <p class="notice warning">{texts.degraded}</p>}
      <section class="panel">
        <h2>{words.overTime}</h2>
        <Chart
          isStacked
          times={bounds.slice(0, -1)}
          series={[
            { label: words.seen, colour: 'good', values: figures.seen.map(hours) },
            ...gaps.map((reason) => ({
              label: words.gap[reason],
              colour: colours[reason],
              values: figures.gaps[reason].map(hours),
            })),
          ]}
          spell={(value) => format.hours(value)}
          spellTime={(time) => (days === 1 ? format.time(time) : format.day(time))}
        />
        {gaps.length > 0 && (
          <ul class="gap-list">
            {gaps.map((reason) => (
              <li key={reason}>
                <strong>{format.sentence(`${words.gap[reason]}: ${format.duration(total(reason))}`)}</strong>{' '}
                <span class="soft">{words.gapAbout[reason]}</span>
              </li>
            ))}
          </ul>
        )}
      </section>
      <section class="panel">
        <h2>{words.byScreen}</h2>
        <div class="table-scroll">
          <table class="figures">
            <thead>
              <tr>
                <th scope="col">{words.screen}</th>
                <th scope="col">{words.count}</th>
                <th scope="col">{words.time}</th>
              </tr>
            </thead>
            <tbody>
              {figures.screens.slice(0, SHOWN).map(({ slug, plays, seenMs }) => (
                <tr key={slug}>
                  <th scope="row">{site.screen(slug)?.value.screen.name ?? slug}</th>
                  <td>{format.number(plays)}</td>
                  <td>
                    {format.duration(seenMs)} <Bar share={seenMs / most(figures.screens)} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {figures.screens.length > SHOWN && <p class="soft">{words.more({ count: figures.screens.length - SHOWN })}</p>}
      </section>
      <section class="panel">
        <h2>{words.bySlide}</h2>
        <div class="table-scroll">
          <table class="figures">
            <thead>
              <tr>
                <th scope="col">{words.slide}</th>
                <th scope="col">{words.count}</th>
                <th scope="col">{words.time}</th>
                <th scope="col">{words.failures}</th>
              </tr>
            </thead>
            <tbody>
              {figures.slides.slice(0, SHOWN).map(({ id, title, plays, seenMs, failures, reason }) => (
                <tr key={id}>
                  <th scope="row">{mediumName(title)}</th>
                  <td>{format.number(plays)}</td>
                  <td>
                    {format.duration(seenMs)} <Bar share={seenMs / most(figures.slides)} />
                  </td>
                  <td class={failures > 0 ? 'bad' : 'soft'}>
                    {failures === 0 ? '–' : `${format.number(failures)}${reason === null ? '' : `: ${reason}`}`}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {figures.slides.length > SHOWN && <p class="soft">{words.more({ count: figures.slides.length - SHOWN })}</p>}
      </section>
    </>
  );
};

export const PlaysPage = () => {
  const { client, clock, documents, texts, format, timeZone, announcer } = useConsole();
  const words = texts.plays;
  const screens = useScreenOptions();
  const days = useSignal<Days>(1);
  /** A slug; empty: all screens. */
  const screen = useSignal('');
  const loaded = useSignal<Loaded | null>(null);
  const count = useSignal(0);
  const error = useSignal<unknown>(null);
  const attempt = useSignal(0);

  useEffect(() => {
    const abort = new AbortController();
    const load = async (): Promise<void> => {
      const bounds = boundsOf(days.value, clock.now(), timeZone);
      const hoursOf = (slug: string): OpeningTime[] | null =>
        documents.current.value?.content.screens.find((each) => each.slug === slug)?.hours ?? null;
      const spans = new Map<string, ReturnType<typeof openSpans> | null>();
      const figures = createFigures({
        bounds,
        now: clock.now(),
        openSpans: (slug) => {
          const hours = hoursOf(slug);
          const known = spans.get(slug);
          if (known !== undefined) return known;
          const found = hours === null ? null : openSpans(hours, bounds[0] ?? 0, timeZone, days.value + 1);
          spans.set(slug, found);
          return found;
        },
      });
      const response = await client.stream(playsPath('json', screen.value, bounds[0] ?? 0), {
        signal: abort.signal,
        timeout: ANSWER_MS,
      });
      if (response.body !== null) {
        await readPlays(response.body, abort.signal, figures.add, (read) => {
          count.value = read;
        });
      }
      const isDegraded = response.headers.get('x-signage-degraded') === 'true';
      loaded.value = { figures: figures.sum(), bounds, isDegraded };
    };
    loaded.value = null;
    error.value = null;
    count.value = 0;
    load().catch((reason: unknown) => {
      if (!abort.signal.aborted) error.value = reason;
    });
    return () => abort.abort();
  }, [days.value, screen.value, attempt.value]);

  const save = (): Promise<void> => {
    const [from = 0] = boundsOf(days.value, clock.now(), timeZone);
    return savePlays(client, playsPath('csv', screen.value, from)).catch(announcer.report);
  };

  return (
    <>
      <div class="row filters-row">
        <fieldset class="chips">
          <legend class="unseen">{words.range}</legend>
          {ranges.map((each) => (
            <Chip key={each} name="range" checked={days.value === each} onChange={() => (days.value = each)}>
              {words.days({ count: each })}
            </Chip>
          ))}
        </fieldset>
        <Select
          aria-label={words.screen}
          value={screen.value}
          options={screens}
          onValue={(value) => (screen.value = value)}
        />
        <Button class="small" onClick={() => void save()}>
          <Icon name="download" /> {words.save}
        </Button>
      </div>
      <div class="stack plays">
        {error.value !== null ? (
          <div class="notice bad">
            <p>{reasonOf(error.value, texts)}</p>
            <Button class="small" onClick={() => (attempt.value += 1)}>
              {texts.retry}
            </Button>
          </div>
        ) : loaded.value === null ? (
          <p class="soft" role="status">
            {count.value === 0 ? texts.loading : words.reading({ count: count.value })}
          </p>
        ) : (
          <Shown loaded={loaded.value} days={days.value} />
        )}
        <p class="hint">{texts.plan.zone({ timeZone: format.zone })}</p>
      </div>
    </>
  );
};
