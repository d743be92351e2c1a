/** The seven days of a week with the programmes of a screen or tag, which are drawn, dragged and resized. */
import { useSignal } from '@preact/signals';
import type { TargetedKeyboardEvent, TargetedPointerEvent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Span } from '../../../service/domain/wall-time.ts';
import { type ContentDocument, issuesAt, type ProgrammeDraft } from '../model/document.ts';
import { useConsole } from '../ui/context.tsx';
import { IconButton } from '../ui/controls.tsx';
import { Icon } from '../ui/icon.tsx';
import { nameOf } from './edits.ts';
import {
  type Block,
  blocksOf,
  clockChangeOn,
  DAY,
  type Drag,
  dragged,
  drawnWindow,
  type Grip,
  keepLanes,
  minutesAt,
  partsOf,
  STEP,
  timeOf,
  timesOf,
  type Window,
} from './geometry.ts';

/** Which block of which programme. */
export interface Selection {
  id: string;
  /** The row of the day on which its window begins. */
  origin: number;
}

export interface Week {
  /** The day before the week, its days, and the day after. */
  dates: readonly string[];
  /** Midnights of its days and of the day after, ms since the epoch. */
  midnights: readonly number[];
}

interface GridProps {
  document: ContentDocument;
  week: Week;
  /** The programmes of the week's screen or tag. */
  programmes: readonly ProgrammeDraft[];
  /** Those of its own target; the others are for more screens. */
  isOwn(programme: ProgrammeDraft): boolean;
  /** What would play in the week with these programmes; null: unknown. */
  stretchesWith(all: readonly ProgrammeDraft[]): readonly (Span & { programme: ProgrammeDraft | null })[] | null;
  selected: Selection | null;
  onSelect(selection: Selection | null): void;
  onDraw(row: number, window: Window): void;
  onChange(programme: ProgrammeDraft, selection: Selection, group?: string): void;
  onRemove(selection: Selection): void;
  onCopyDay(row: number): void;
  /** A moment was pointed at; null: none is any more. */
  onPoint(moment: { row: number; minutes: number } | null, isChosen: boolean): void;
  /** The moment that is explained. */
  mark: { row: number; minutes: number } | null;
}

type Draw = { grip: 'draw'; row: number; from: number; to: number };

/**
 * Where the lines of the days were when the pointer was pressed. What changes on the page meanwhile, such as a message above
 * the week, moves lines under a pointer that rests; they follow what a person scrolls alone.
 */
interface Lines {
  rects: readonly DOMRect[];
  left: number;
  top: number;
}
type Gesture = ({ id: string; drag: Drag } | Draw) & { lines: Lines };

/** How near an edge is taken by the pointer, px. */
const EDGE_PX = 9;
const HOURS = [0, 3, 6, 9, 12, 15, 18, 21];
const steps: Readonly<Record<string, number>> = { ArrowLeft: -STEP, ArrowRight: STEP };
const turns: Readonly<Record<string, number>> = { ArrowUp: -1, ArrowDown: 1 };

const share = (minutes: number): string => `${(100 * minutes) / DAY}%`;

/** The colour of a playlist: a hue by its place in the document. */
export const hueOf = (id: string, { playlists = [] }: ContentDocument): number =>
  (200 +
    137.5 *
      Math.max(
        0,
        playlists.findIndex((each) => each.id === id),
      )) %
  360;

export const Grid = (props: GridProps) => {
  const { document, week, selected, onSelect } = props;
  const { texts, format, clock, timeZone } = useConsole();
  const words = texts.programmes;
  const gesture = useSignal<Gesture | null>(null);
  const days = useRef<HTMLUListElement>(null);
  /** Set where the focus is to follow the selected block, which may be another element after a change. */
  const isFocusDue = useRef(false);
  const { draft: openDraft } = useConsole();
  const issues = openDraft().check.value;
  const all = document.programmes ?? [];
  const current = gesture.value;

  /** The programmes as they would be if the pointer were released. */
  const shown = all.map((programme) =>
    current !== null && 'id' in current && current.id === programme.id
      ? dragged(programme, current.drag, week.dates)
      : programme,
  );
  const sketch: ProgrammeDraft | null =
    current !== null && 'grip' in current && current.to !== current.from
      ? {
          id: '',
          targets: [],
          playlist_id: '',
          dates: [week.dates[current.row + 1] ?? ''],
          ...timesOf(drawnWindow(current.from, current.to)),
        }
      : null;
  const known = new Set(props.programmes.map(({ id }) => id));
  const drawn = [...shown.filter(({ id }) => known.has(id)), ...(sketch === null ? [] : [sketch])];
  // While a block is dragged no line grows: the days would move away from the pointer.
  const laid = blocksOf(sketch === null ? all.filter(({ id }) => known.has(id)) : drawn, week.dates);
  const blocks = current === null ? laid : keepLanes(blocksOf(drawn, week.dates), laid);
  const stretches = props.stretchesWith(shown);
  const parts = (stretches ?? []).flatMap((stretch) =>
    partsOf(stretch, week.midnights, timeZone).map((part) => ({ ...part, id: stretch.programme?.id ?? null })),
  );
  const now = clock.now();

  useEffect(() => {
    if (!isFocusDue.current) return;
    isFocusDue.current = false;
    days.current?.querySelector<HTMLElement>('.programme-block[aria-pressed="true"]')?.focus();
  });
  useEffect(() => {
    const cancel = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') gesture.value = null;
    };
    addEventListener('keydown', cancel);
    return () => removeEventListener('keydown', cancel);
  }, []);

  const linesNow = (): Lines => ({
    rects: [...(days.current?.querySelectorAll('.programme-line') ?? [])].map((line) => line.getBoundingClientRect()),
    left: scrollX + (days.current?.parentElement?.scrollLeft ?? 0),
    top: scrollY,
  });

  const placeOf = (event: MouseEvent, lines: Lines): { row: number; minutes: number; isInside: boolean } => {
    const now = linesNow();
    const [x, y] = [event.clientX + now.left - lines.left, event.clientY + now.top - lines.top];
    const row = Math.max(
      0,
      lines.rects.findLastIndex(({ top }) => y >= top),
    );
    const line = lines.rects[row];
    if (line === undefined) return { row: 0, minutes: 0, isInside: false };
    const isInside = x >= line.left && x < line.right && y >= line.top && y < line.bottom;
    return { row, minutes: minutesAt((x - line.left) / line.width), isInside };
  };

  const gripOf = (element: Element, { clientX }: MouseEvent, block: Block): Grip => {
    const { left, right } = element.getBoundingClientRect();
    if (right - left < 3 * EDGE_PX) return 'move';
    if (block.isHead && clientX - left < EDGE_PX) return 'start';
    return block.isTail && right - clientX < EDGE_PX ? 'end' : 'move';
  };

  const onPointerDown = (event: TargetedPointerEvent<HTMLUListElement>): void => {
    if (event.button !== 0 || !(event.target instanceof Element)) return;
    const lines = linesNow();
    const place = placeOf(event, lines);
    const element = event.target.closest<HTMLElement>('.programme-block');
    const block = element === null ? undefined : blocks[Number(element.dataset['block'])];
    const programme = block === undefined ? undefined : drawn[block.index];
    // A finger scrolls the page, and drags what it has selected before.
    const isTouch = event.pointerType === 'touch';
    if (block === undefined || programme === undefined || element === null) {
      if (isTouch || !place.isInside) return;
      gesture.value = { grip: 'draw', row: place.row, from: place.minutes, to: place.minutes, lines };
    } else {
      const selection = { id: programme.id, origin: block.origin };
      const isSelected = selected?.id === selection.id && selected.origin === selection.origin;
      if (isTouch && !isSelected) return;
      const grip = gripOf(element, event, block);
      gesture.value = { id: programme.id, drag: { grip, origin: block.origin, from: place, to: place }, lines };
      isFocusDue.current = true;
      onSelect(selection);
    }
    event.currentTarget.setPointerCapture(event.pointerId);
    event.preventDefault();
  };

  const onPointerMove = (event: TargetedPointerEvent<HTMLUListElement>): void => {
    const { row, minutes, isInside } = placeOf(event, current?.lines ?? linesNow());
    if (current === null) {
      props.onPoint(isInside && event.pointerType === 'mouse' ? { row, minutes } : null, false);
    } else if ('grip' in current) {
      if (minutes !== current.to) gesture.value = { ...current, to: minutes };
    } else if (row !== current.drag.to.row || minutes !== current.drag.to.minutes) {
      gesture.value = { ...current, drag: { ...current.drag, to: { row, minutes } } };
    }
  };

  const onPointerUp = (event: TargetedPointerEvent<HTMLUListElement>): void => {
    gesture.value = null;
    if (current === null) {
      const place = placeOf(event, linesNow());
      if (place.isInside && event.pointerType === 'touch') props.onPoint(place, true);
    } else if ('grip' in current) {
      if (current.to === current.from) {
        onSelect(null);
        props.onPoint({ row: current.row, minutes: current.from }, true);
      } else props.onDraw(current.row, drawnWindow(current.from, current.to));
    } else commit(current.id, current.drag);
  };

  const commit = (id: string, drag: Drag, group?: string): void => {
    const programme = all.find((each) => each.id === id);
    if (programme === undefined || (drag.from.row === drag.to.row && drag.from.minutes === drag.to.minutes)) return;
    const next = dragged(programme, drag, week.dates);
    const shift = drag.grip === 'move' && next.days !== programme.days ? drag.to.row - drag.from.row : 0;
    const isMovedDate = drag.grip === 'move' && next.dates !== programme.dates ? drag.to.row - drag.from.row : 0;
    isFocusDue.current = true;
    props.onChange(next, { id, origin: drag.origin + (shift || isMovedDate) }, group);
  };

  const onKey = (event: TargetedKeyboardEvent<HTMLElement>, block: Block): void => {
    const programme = drawn[block.index];
    if (programme === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = { row: block.origin, minutes: 0 };
    const { from, until } = {
      from: block.isHead ? block.from : 0,
      until: block.until + (block.row - block.origin) * DAY,
    };
    const nudge = (grip: Grip, to: { row: number; minutes: number }): void => {
      event.preventDefault();
      const drag = { grip, origin: block.origin, from: at, to };
      commit(programme.id, drag, `programmes ${programme.id} keys`);
    };
    const step = steps[event.key];
    const day = turns[event.key];
    if (step !== undefined && event.shiftKey) nudge('end', { row: block.origin, minutes: until + step });
    else if (step !== undefined) nudge('move', { row: at.row, minutes: from + step < 0 ? 0 : step });
    else if (day !== undefined && at.row + day >= 0 && at.row + day < 7)
      nudge('move', { row: at.row + day, minutes: 0 });
    else if (event.key === 'Delete' || event.key === 'Backspace') {
      event.preventDefault();
      props.onRemove({ id: programme.id, origin: block.origin });
    }
  };

  const describe = (programme: ProgrammeDraft, { from, until, row }: Block, isCovered: boolean): string =>
    words.block({
      name: nameOf(programme, document),
      day: format.weekday(row + 1),
      from: timeOf(from),
      until: timeOf(until),
    }) + (isCovered ? ` ${words.covered}` : '');

  return (
    <ul
      ref={days}
      class={current === null ? 'programme-days' : 'programme-days dragging'}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={onPointerUp}
      onPointerCancel={() => {
        gesture.value = null;
      }}
      onPointerLeave={() => props.onPoint(null, false)}
    >
      <li class="programme-day programme-hours" aria-hidden="true">
        <span />
        <span class="programme-scale">
          {HOURS.map((hour) => (
            <span key={hour} style={{ insetInlineStart: share(hour * 60) }}>
              {timeOf(hour * 60)}
            </span>
          ))}
        </span>
      </li>
      {week.midnights.slice(0, -1).map((midnight, row) => {
        const next = week.midnights[row + 1] ?? midnight;
        const own = blocks.flatMap((block, at) => (block.row === row ? [{ block, at }] : []));
        const lanes = 1 + Math.max(0, ...laid.flatMap((block) => (block.row === row ? [block.lane] : [])));
        const date = week.dates[row + 1] ?? '';
        const change = clockChangeOn(date, timeZone);
        const isToday = now >= midnight && now < next;
        return (
          <li key={row} class="programme-day">
            <span class={isToday ? 'programme-name today' : 'programme-name'}>
              <span>
                <strong>{format.weekday(row + 1)}</strong> <span class="soft">{format.day(midnight)}</span>
              </span>
              <IconButton
                icon="copy"
                label={words.copyDayOf({ day: format.weekday(row + 1) })}
                onClick={() => props.onCopyDay(row)}
              />
            </span>
            <div class="programme-line" style={{ '--lanes': lanes }}>
              {change !== null && (
                <span
                  class="programme-change"
                  title={(change.isSkipped ? words.skipped : words.repeated)({
                    from: timeOf(change.from),
                    until: timeOf(change.until),
                  })}
                  style={{ insetInlineStart: share(change.from), width: share(change.until - change.from) }}
                />
              )}
              {own.map(({ block, at }) => {
                const programme = drawn[block.index] as ProgrammeDraft;
                const isSketch = programme === sketch;
                const length = block.until - block.from;
                const played = parts.filter(
                  (part) =>
                    part.id === programme.id && part.row === row && part.until > block.from && part.from < block.until,
                );
                const time = played.reduce(
                  (sum, part) => sum + Math.min(part.until, block.until) - Math.max(part.from, block.from),
                  0,
                );
                const isCovered = stretches !== null && !isSketch && time < length;
                const isSelected = selected?.id === programme.id && selected.origin === block.origin;
                const hasIssues =
                  issues !== null &&
                  issuesAt(
                    [...issues.errors, ...issues.warnings],
                    `programmes[${all.findIndex(({ id }) => id === programme.id)}]`,
                  ).length > 0;
                return (
                  <button
                    key={`${programme.id} ${block.origin} ${String(block.isHead)}`}
                    type="button"
                    data-block={at}
                    class={`programme-block${isSketch ? ' sketch' : ''}${props.isOwn(programme) ? '' : ' wider'}${block.isHead ? '' : ' tail'}${block.isTail ? '' : ' head'}`}
                    aria-pressed={isSelected}
                    aria-label={describe(programme, block, isCovered)}
                    aria-keyshortcuts="ArrowLeft ArrowRight ArrowUp ArrowDown Shift+ArrowLeft Shift+ArrowRight Delete"
                    title={describe(programme, block, isCovered)}
                    style={{
                      insetInlineStart: share(block.from),
                      width: share(length),
                      '--lane': block.lane,
                      '--hue': hueOf(programme.playlist_id, document),
                    }}
                    onKeyDown={(event) => onKey(event, block)}
                    onClick={() => onSelect({ id: programme.id, origin: block.origin })}
                  >
                    {played.map((part) => (
                      <span
                        key={part.from}
                        class="programme-part"
                        style={{
                          insetInlineStart: `${(100 * (Math.max(part.from, block.from) - block.from)) / length}%`,
                          width: `${(100 * (Math.min(part.until, block.until) - Math.max(part.from, block.from))) / length}%`,
                        }}
                      />
                    ))}
                    <span class="programme-title" dir="auto">
                      {hasIssues && <Icon name="warning" />}
                      {isSketch ? `${timeOf(block.from)}–${timeOf(block.until)}` : nameOf(programme, document)}
                    </span>
                  </button>
                );
              })}
              {isToday && (
                <span
                  class="programme-now"
                  style={{ insetInlineStart: `${(100 * (now - midnight)) / (next - midnight)}%` }}
                />
              )}
              {props.mark?.row === row && (
                <span class="programme-mark" style={{ insetInlineStart: share(props.mark.minutes) }} />
              )}
            </div>
          </li>
        );
      })}
    </ul>
  );
};
