/** What a screen plays next, and at any chosen time. */
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useId } from 'preact/hooks';
import type { OpeningTime } from '../../../service/contract/kiosk.ts';
import type { PlaylistPayload, Slide } from '../../../service/contract/playlist.ts';
import type { ScreenDue } from '../../../service/contract/programmes.ts';
import { reasonOf } from '../api/errors.ts';
import { titleOf } from '../model/document.ts';
import { useConsole } from '../ui/context.tsx';
import { Button } from '../ui/controls.tsx';
import { typedInto } from '../ui/inputs.tsx';
import { Miniature } from '../ui/miniature.tsx';
import type { Plan } from './plan.ts';

type Rules = Pick<typeof import('./plan.ts'), 'isPlannedAt' | 'planAt' | 'roundAt'> &
  Pick<typeof import('../model/local-time.ts'), 'instantOfInput'>;

interface Loaded {
  payload: PlaylistPayload;
  isSynchronized: boolean;
  rules: Rules;
}

/** Slides that are named. */
const COUNT = 8;

const Slides = ({ plan, slides }: { plan: Plan; slides: readonly Slide[] }) => {
  const { texts, format } = useConsole();
  return (
    <ol class="plan">
      {plan.slides.map(({ index, slide, since, length }, at) => (
        <li key={`${index} ${at}`}>
          <span class="plan-picture">
            <Miniature slide={slide} id={slide.id} among={slides} />
          </span>
          <span class="plan-title">{titleOf(slide, slide.id)}</span>
          <span class="soft">
            {since !== null && `${format.exactTime(since)} · `}
            {length === null ? texts.plan.ownLength : format.length(length / 1000)}
          </span>
        </li>
      ))}
    </ol>
  );
};

export const PlanPanel = ({ slug, current }: { slug: string; current: number | null }) => {
  const { client, clock, documents, site, texts, format, timeZone } = useConsole();
  const words = texts.plan;
  const inputId = useId();
  const loaded = useSignal<Loaded | null>(null);
  const error = useSignal<unknown>(null);
  const dueError = useSignal<unknown>(null);
  /** Empty: now. */
  const chosen = useSignal('');
  const tick = useSignal(0);
  /** What is due at a chosen time that the payload does not tell. */
  const due = useSignal<{ chosen: string; playlistId: string | null } | null>(null);
  const modified = site.screen(slug)?.value.screen.modified_at;
  // What the payload tells ends some midnights from the one on which it was loaded.
  const day = useComputed(() => {
    void tick.value;
    return format.longDay(clock.now());
  }).value;

  useEffect(() => {
    const load = async (): Promise<void> => {
      const [response, { isPlannedAt, planAt, roundAt }, { instantOfInput }] = await Promise.all([
        client.request(`/api/screens/${encodeURIComponent(slug)}/playlist`),
        import('./plan.ts'),
        import('../model/local-time.ts'),
      ]);
      loaded.value = {
        payload: (await response.json()) as PlaylistPayload,
        isSynchronized: response.headers.get('x-signage-sync') === '1',
        rules: { isPlannedAt, planAt, roundAt, instantOfInput },
      };
      error.value = null;
    };
    load().catch((reason: unknown) => {
      error.value = reason;
    });
  }, [slug, modified, day]);
  useEffect(() => {
    const timer = setInterval(() => (tick.value += 1), 5_000);
    return () => clearInterval(timer);
  }, []);

  const found = useComputed(() => {
    if (loaded.value === null) return null;
    void tick.value;
    const { payload, isSynchronized, rules } = loaded.value;
    const at = chosen.value === '' ? clock.now() : rules.instantOfInput(chosen.value, timeZone);
    if (at === null) return null;
    const screen = documents.current.value?.content.screens.find((each) => each.slug === slug);
    const hours = (screen?.hours ?? null) as OpeningTime[] | null;
    const round = rules.roundAt(payload, isSynchronized, at);
    const plan = rules.planAt({
      slides: round.slides,
      hours,
      timeZone,
      at,
      isSynchronized: round.isSynchronized,
      current: chosen.value === '' ? current : null,
      count: COUNT,
    });
    return {
      plan: { ...plan, changesAt: Math.min(plan.changesAt, round.changesAt) },
      slides: round.slides,
      at,
      isPlanned: chosen.value === '' || rules.isPlannedAt(payload, at),
    };
  }).value;
  const isPlanned = found?.isPlanned !== false;
  useEffect(() => {
    dueError.value = null;
    // While a year is typed.
    if (isPlanned || Number(chosen.value.slice(0, 4)) < 1970) return undefined;
    const abort = new AbortController();
    const at = chosen.value;
    const path = `/console/api/screens/${encodeURIComponent(slug)}/programme?at=${encodeURIComponent(at)}`;
    client.json<ScreenDue>(path, { signal: abort.signal }).then(
      ({ playlist_id }) => {
        due.value = { chosen: at, playlistId: playlist_id };
      },
      (reason: unknown) => {
        if (!abort.signal.aborted) dueError.value = reason;
      },
    );
    return () => abort.abort();
  }, [slug, modified, isPlanned, chosen.value]);
  const playlists = documents.current.value?.content.playlists ?? [];
  const nameOf = (id: string): string => playlists.find((each) => each.id === id)?.name || id;
  const fault = error.value ?? dueError.value;
  const dueThen = due.value?.chosen === chosen.value ? due.value : null;

  return (
    <section class="panel">
      <div class="row panel-head">
        <h2>{words.title}</h2>
        <label class="row plan-time" for={inputId}>
          <span>{words.at}</span>
          <input id={inputId} type="datetime-local" {...typedInto(chosen)} />
        </label>
        {chosen.value !== '' && (
          <Button class="small" onClick={() => (chosen.value = '')}>
            {words.now}
          </Button>
        )}
      </div>
      {fault !== null && <p class="notice bad">{reasonOf(fault, texts)}</p>}
      {found === null ? (
        error.value === null && <p class="soft">{texts.loading}</p>
      ) : (
        <>
          {isPlanned && (
            <p class="soft">{chosen.value === '' ? words.next : words.later({ moment: format.moment(found.at) })}</p>
          )}
          {found.plan.closedUntil !== null && (
            <p class="notice">
              {Number.isFinite(found.plan.closedUntil)
                ? words.closed({ until: format.when(new Date(found.plan.closedUntil).toISOString(), found.at) })
                : words.closedLong}
            </p>
          )}
          {!isPlanned ? (
            <p class={dueThen === null ? 'soft' : ''}>
              {dueThen === null
                ? error.value === null && texts.loading
                : dueThen.playlistId === null
                  ? words.nothing
                  : words.beyond({ moment: format.moment(found.at), playlist: nameOf(dueThen.playlistId) })}
            </p>
          ) : found.plan.slides.length === 0 ? (
            <p>{words.nothing}</p>
          ) : (
            <Slides plan={found.plan} slides={found.slides} />
          )}
          {isPlanned && Number.isFinite(found.plan.changesAt) && (
            <p class="hint">
              {words.changes({ time: format.when(new Date(found.plan.changesAt).toISOString(), found.at) })}
            </p>
          )}
        </>
      )}
      <p class="hint">{words.zone({ timeZone: format.zone })}</p>
    </section>
  );
};
