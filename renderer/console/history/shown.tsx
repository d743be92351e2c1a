/** What was shown on a day: each play, to the second. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Play } from '../../../service/contract/plays.ts';
import { addDays, instantOf, wallTimeOf } from '../../../service/domain/wall-time.ts';
import { mediumName } from '../model/document.ts';
import { readPlays } from '../model/figures.ts';
import { ANSWER_MS, HOUR_MS, playsPath, savePlays } from '../plays/request.ts';
import { useConsole } from '../ui/context.tsx';
import { Button, Empty, Failure } from '../ui/controls.tsx';
import { Icon } from '../ui/icon.tsx';
import { DayFilter, Filter, useScreenOptions } from '../ui/inputs.tsx';

const PAGE = 200;

interface Loaded {
  plays: readonly Play[];
  isMore: boolean;
  isDegraded: boolean;
}

export const Shown = () => {
  const { client, clock, site, texts, format, timeZone, announcer } = useConsole();
  const words = texts.history;
  const screens = useScreenOptions();
  const date = useSignal(wallTimeOf(clock.now(), timeZone).date);
  const [screen, hour] = [useSignal(''), useSignal('')];
  const loaded = useSignal<Loaded | null>(null);
  const error = useSignal<unknown>(null);
  const attempt = useSignal(0);

  const midnight = (days: number): number => instantOf(addDays(date.value, days), '00:00', timeZone);
  /** The hours of the day, with those of clock changes. */
  const hours = (): number[] =>
    date.value === ''
      ? []
      : Array.from(
          { length: Math.round((midnight(1) - midnight(0)) / HOUR_MS) },
          (_, at) => midnight(0) + at * HOUR_MS,
        );
  const rangeOf = (): [from: number, to: number] =>
    hour.value === '' ? [midnight(0), midnight(1)] : [Number(hour.value), Number(hour.value) + HOUR_MS];

  /** @param after the plays that are shown already */
  const load = async (after: readonly Play[], signal: AbortSignal): Promise<void> => {
    const [from, to] = rangeOf();
    const known = new Set(after.map(({ play_id }) => play_id));
    const first = after.at(-1)?.started_at ?? from;
    const abort = new AbortController();
    signal.addEventListener('abort', () => abort.abort());
    const response = await client.stream(playsPath('json', screen.value, first, to), {
      signal: abort.signal,
      timeout: ANSWER_MS,
    });
    const found: Play[] = [];
    const take = (play: object): void => {
      const next = play as Play;
      if (!known.has(next.play_id)) found.push(next);
      // One more tells that there are more; the rest is not read.
      if (found.length > PAGE) abort.abort();
    };
    if (response.body !== null) {
      await readPlays(response.body, abort.signal, take, () => undefined).catch((reason: unknown) => {
        if (found.length <= PAGE) throw reason;
      });
    }
    if (signal.aborted) return;
    loaded.value = {
      plays: [...after, ...found.slice(0, PAGE)],
      isMore: found.length > PAGE,
      isDegraded: response.headers.get('x-signage-degraded') === 'true',
    };
    error.value = null;
  };
  // An hour is one of a day.
  useEffect(() => {
    hour.value = '';
  }, [date.value]);
  const loading = useRef(new AbortController());
  useEffect(() => {
    const abort = new AbortController();
    loading.current = abort;
    loaded.value = null;
    if (date.value === '') return undefined;
    load([], abort.signal).catch((reason: unknown) => {
      if (!abort.signal.aborted) error.value = reason;
    });
    return () => abort.abort();
  }, [date.value, screen.value, hour.value, attempt.value]);

  const loadLater = async (after: readonly Play[]): Promise<void> => {
    const { signal } = loading.current;
    await load(after, signal).catch((reason: unknown) => {
      if (!signal.aborted) announcer.report(reason);
    });
  };
  const save = (): Promise<void> =>
    savePlays(client, playsPath('csv', screen.value, ...rangeOf())).catch(announcer.report);

  const found = loaded.value;
  return (
    <>
      <div class="row filters-row history-filters">
        <DayFilter date={date} />
        <Filter
          label={words.hour}
          chosen={hour}
          options={[
            ['', words.allDay],
            ...hours().map((start): readonly [string, string] => [
              String(start),
              words.hourSpan({ from: format.time(start), until: format.time(start + HOUR_MS) }),
            ]),
          ]}
        />
        <Filter label={texts.plays.screen} chosen={screen} options={screens} />
        <Button class="small" disabled={date.value === ''} onClick={() => void save()}>
          <Icon name="download" /> {texts.plays.save}
        </Button>
      </div>
      {error.value !== null && found === null ? (
        <Failure reason={error.value} onRetry={() => (attempt.value += 1)} />
      ) : found === null ? (
        <p class="soft" role="status">
          {date.value === '' ? words.pickDay : texts.loading}
        </p>
      ) : found.plays.length === 0 ? (
        <Empty title={texts.plays.none}>
          <p>{texts.plays.noneTask}</p>
        </Empty>
      ) : (
        <>
          {found.isDegraded && <p class="notice warning">{texts.degraded}</p>}
          <div class="table-scroll">
            <table class="figures shown-plays">
              <thead>
                <tr>
                  <th scope="col">{words.time}</th>
                  <th scope="col">{texts.plays.slide}</th>
                  <th scope="col">{texts.plays.screen}</th>
                  <th scope="col">{words.display}</th>
                  <th scope="col">{words.howLong}</th>
                </tr>
              </thead>
              <tbody>
                {found.plays.map((play) => (
                  <tr key={play.play_id}>
                    <td>
                      {words.hourSpan({
                        from: format.exactTime(Date.parse(play.started_at)),
                        until: format.exactTime(Date.parse(play.ended_at)),
                      })}
                    </td>
                    <th scope="row">{mediumName(play.slide_title ?? play.media_url ?? play.slide_id)}</th>
                    <td>{site.screen(play.screen)?.value.screen.name ?? play.screen}</td>
                    <td>{play.client_name ?? texts.unnamed}</td>
                    <td class={play.result === 'failed' || play.result === 'skipped' ? 'bad' : ''}>
                      {play.result === 'skipped' ? '' : `${format.length(play.duration_ms / 1000)} `}
                      {play.result !== 'played' && words.result[play.result]}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {found.isMore && <Button onClick={() => void loadLater(found.plays)}>{words.later}</Button>}
        </>
      )}
      <p class="hint">{texts.plan.zone({ timeZone: format.zone })}</p>
    </>
  );
};
