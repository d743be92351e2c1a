/** A week of a playlist: when each slide with a schedule is on, and when its screens are open. */
import { useSignal } from '@preact/signals';
import type { OpeningTime } from '../../../service/contract/kiosk.ts';
import { slideId } from '../../../service/domain/slides.ts';
import type { Span } from '../../../service/domain/wall-time.ts';
import { type ContentDocument, type PlaylistDraft, type SlideDraft, titleOf } from '../model/document.ts';
import { fillDraft } from '../model/payload.ts';
import { spansOfHours, spansOfSlide, weekOf } from '../model/week.ts';
import { useConsole } from '../ui/context.tsx';
import { Button, IconButton } from '../ui/controls.tsx';

interface WeekProps {
  document: ContentDocument;
  playlist: PlaylistDraft;
  selected: number;
  onSelect(index: number): void;
}

const WEEK_MS = 7 * 86_400_000;
/** Slides with a row of their own. */
const SHOWN = 100;

const isScheduled = (slide: SlideDraft): boolean => (slide['schedule_mode'] ?? 'always') !== 'always';

/** The bars of a row; in words for assistive technology, and where the pointer rests. */
const Bars = ({ spans, week }: { spans: readonly Span[]; week: readonly number[] }) => {
  const { texts, format } = useConsole();
  const [start, end] = [week[0] ?? 0, week.at(-1) ?? 1];
  const share = (time: number): string => `${(100 * time) / (end - start)}%`;
  return (
    <span class="week-line">
      {spans.map((span) => {
        const words = texts.week.span({ from: format.dayAndTime(span.start), until: format.dayAndTime(span.end) });
        return (
          <span
            key={span.start}
            class="week-bar"
            title={words}
            style={{ insetInlineStart: share(span.start - start), width: share(span.end - span.start) }}
          >
            <span class="unseen">{words}</span>
          </span>
        );
      })}
    </span>
  );
};

export const Week = ({ document, playlist, selected, onSelect }: WeekProps) => {
  const { texts, format, clock, timeZone } = useConsole();
  const words = texts.week;
  const offset = useSignal(0);
  const week = weekOf(clock.now() + offset.value * WEEK_MS, timeZone);
  const scheduled = playlist.slides.flatMap((slide, index) => (isScheduled(slide) ? [{ slide, index }] : []));
  const always = playlist.slides.length - scheduled.length;
  const screens = document.screens.filter(
    ({ playlist_id, hours }) => playlist_id === playlist.id && hours != null && hours.length > 0,
  );
  const now = clock.now();
  const [start, end] = [week[0] ?? 0, week.at(-1) ?? 1];
  return (
    <section class="panel week" aria-label={words.title}>
      <div class="row panel-head">
        <h2>{words.of({ from: format.day(start), until: format.day(end - 1) })}</h2>
        <div class="buttons">
          <IconButton
            icon="back"
            label={words.previous}
            onClick={() => {
              offset.value -= 1;
            }}
          />
          <Button
            class="small"
            disabled={offset.value === 0}
            onClick={() => {
              offset.value = 0;
            }}
          >
            {words.current}
          </Button>
          <IconButton
            icon="forward"
            label={words.next}
            onClick={() => {
              offset.value += 1;
            }}
          />
        </div>
      </div>
      <div class="week-scroll">
        <div class="week-table">
          <div class="week-row week-days" aria-hidden="true">
            <span />
            <span class="week-line">
              {week.slice(0, -1).map((day, index) => (
                <span key={day} class={now >= day && now < (week[index + 1] ?? 0) ? 'week-day today' : 'week-day'}>
                  {format.weekday(index + 1)}
                </span>
              ))}
            </span>
          </div>
          <ul class="week-rows">
            {screens.map((screen) => (
              <li key={screen.slug} class="week-row open">
                <span class="week-name">{words.open({ screen: screen.name })}</span>
                <Bars spans={spansOfHours(screen.hours as OpeningTime[], week, timeZone)} week={week} />
              </li>
            ))}
            {scheduled.slice(0, SHOWN).map(({ slide, index }) => {
              const spans = spansOfSlide(fillDraft(playlist.id, slide, index), week, timeZone);
              return (
                <li key={index} class="week-row">
                  <button
                    type="button"
                    class="week-name"
                    aria-pressed={index === selected}
                    onClick={() => onSelect(index)}
                  >
                    {index + 1}. {titleOf(slide, slideId(playlist.id, slide, index))}
                  </button>
                  {spans === null || spans.length === 0 ? (
                    <span class="week-line">
                      <span class="week-none">{spans === null ? texts.editor.hasErrors : words.never}</span>
                    </span>
                  ) : (
                    <Bars spans={spans} week={week} />
                  )}
                </li>
              );
            })}
          </ul>
          {now >= start && now < end && (
            <span class="week-now" aria-hidden="true">
              <span style={{ insetInlineStart: `${(100 * (now - start)) / (end - start)}%` }} />
            </span>
          )}
        </div>
      </div>
      <p class="soft">
        {scheduled.length > SHOWN && `${words.more({ count: scheduled.length - SHOWN })} `}
        {words.always({ count: always })} {texts.plan.zone({ timeZone: format.zone })}
      </p>
    </section>
  );
};
