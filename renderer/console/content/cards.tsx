/** The slides of a playlist as a strip or a grid. Only the visible cards are in the DOM: a playlist can have thousands. */
import { combine } from '@atlaskit/pragmatic-drag-and-drop/combine';
import {
  draggable,
  dropTargetForElements,
  monitorForElements,
} from '@atlaskit/pragmatic-drag-and-drop/element/adapter';
import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Slide } from '../../../service/contract/playlist.ts';
import { slideId } from '../../../service/domain/slides.ts';
import { reasonOf } from '../api/errors.ts';
import { issuesAt, mediumName, type PlaylistDraft, type SlideDraft, titleOf } from '../model/document.ts';
import { type How, touched } from '../model/selection.ts';
import type { ContentCheck } from '../model/wire.ts';
import { isActive, type Upload } from '../stores/uploads.ts';
import { useConsole } from '../ui/context.tsx';
import { Button } from '../ui/controls.tsx';
import { Icon } from '../ui/icon.tsx';
import { Miniature } from '../ui/miniature.tsx';
import { isUnderWay } from '../ui/rendition.tsx';
import type { Hovered } from './dropped.ts';

type Ids = readonly Pick<Slide, 'id' | 'kind'>[];

const shortcuts = [
  ...['Alt+ArrowLeft', 'Alt+ArrowRight', 'Shift+ArrowLeft', 'Shift+ArrowRight', 'Control+Space'],
  ...['Control+A', 'Control+C', 'Control+X', 'Control+V', 'Control+D', 'Delete', 'Escape'],
].join(' ');

interface CardProps {
  slide: SlideDraft;
  ids: Ids;
  index: number;
  isSelected: boolean;
  /** Whether the rectangle that is being drawn touches it. */
  isCaught: boolean;
  /** Where files that are dragged over it would be; null: elsewhere. */
  gap: 'before' | 'after' | null;
  /** How many slides a drag of it moves. */
  moves: number;
  /** Whether Tab leads to it; the arrow keys lead to the others. */
  isTabStop: boolean;
  fault: 'error' | 'warning' | null;
  /** Of its medium; null: it is there, as far as is known. */
  arrival: { name: string; upload: Upload | null } | null;
  /** Whether the rendition of its medium is being made. */
  isConverting: boolean;
  onSelect(index: number, how: How): void;
}

/** One slide: selected by a click, with Shift and Ctrl several are, and moved by drag. */
const Card = ({
  slide,
  ids,
  index,
  isSelected,
  isCaught,
  gap,
  moves,
  isTabStop,
  fault,
  arrival,
  isConverting,
  onSelect,
}: CardProps) => {
  const { texts } = useConsole();
  const card = useRef<HTMLButtonElement>(null);
  const edge = useSignal<'before' | 'after' | null>(null);
  const id = ids[index]?.id ?? '';
  const count = useRef(moves);
  count.current = moves;
  useEffect(() => {
    const element = card.current;
    if (element === null) return undefined;
    return combine(
      draggable({
        element,
        getInitialData: () => ({ slide: index }),
        // The browser pictures it as it is at this moment.
        onGenerateDragPreview: () => {
          if (count.current > 1) element.dataset['count'] = String(count.current);
        },
        onDragStart: () => delete element.dataset['count'],
      }),
      dropTargetForElements({
        element,
        canDrop: ({ source }) => typeof source.data['slide'] === 'number',
        getData: ({ input }) => {
          const { left, width } = element.getBoundingClientRect();
          return { index, edge: input.clientX < left + width / 2 ? 'before' : 'after' };
        },
        onDrag: ({ self, source }) => {
          edge.value = source.data['slide'] === index ? null : (self.data['edge'] as 'before' | 'after');
        },
        onDragLeave: () => (edge.value = null),
        onDrop: () => (edge.value = null),
      }),
    );
  }, [index]);
  const notes = fault === null ? '' : `, ${fault === 'error' ? texts.editor.hasErrors : texts.editor.hasWarnings}`;
  return (
    <li
      class={isCaught ? 'card caught' : 'card'}
      data-edge={edge.value ?? gap ?? undefined}
      aria-posinset={index + 1}
      aria-setsize={ids.length}
    >
      <button
        ref={card}
        type="button"
        aria-pressed={isSelected}
        aria-keyshortcuts={shortcuts}
        tabIndex={isTabStop ? 0 : -1}
        onClick={(event) =>
          onSelect(index, event.shiftKey ? 'range' : event.ctrlKey || event.metaKey ? 'toggle' : 'only')
        }
      >
        <span class="card-picture">
          {/* The end of a conversion may bring the picture. */}
          <Miniature key={String(isConverting)} slide={slide} id={id} among={ids} isPending={arrival !== null} />
          {fault !== null && (
            <span class={`card-fault ${fault}`}>
              <Icon name="warning" />
            </span>
          )}
        </span>
        <span class="card-title">
          {index + 1}. {titleOf(slide, id)}
          <span class="unseen">{notes}</span>
        </span>
      </button>
      {arrival !== null && <Arrival {...arrival} />}
    </li>
  );
};

/** The upload of the medium of a slide, why it has ended, or that it is waited for. */
const Arrival = ({ name, upload }: NonNullable<CardProps['arrival']>) => {
  const { texts, uploads } = useConsole();
  if (upload?.state === 'failed' || upload?.state === 'cancelled') {
    const reason = upload.state === 'failed' ? reasonOf(upload.error, texts) : texts.media.state.cancelled;
    return (
      <div class="card-arrival">
        <p class="fault" title={reason}>
          {reason}
        </p>
        <Button class="small" onClick={() => uploads.retry(upload.id)}>
          {texts.retry}
        </Button>
      </div>
    );
  }
  if (upload === null || !isActive(upload))
    return <span class="card-arrival">{texts.editor.waitingFor({ name })}</span>;
  return (
    <span class="card-arrival">
      <progress
        max={Math.max(1, upload.file.size)}
        value={upload.progress}
        aria-label={texts.editor.sending({ name })}
      />
    </span>
  );
};

export type Layout = 'strip' | 'grid';

interface CardsProps {
  playlist: PlaylistDraft;
  /** Of the playlist in the document: `playlists[0]`. */
  path: string;
  check: ContentCheck | null;
  layout: Layout;
  /** The indices of the selected slides. */
  chosen: ReadonlySet<number>;
  /** The index of the one whose form is shown. */
  lead: number;
  onSelect(index: number, how: How): void;
  /** A rectangle was drawn around slides. @param isAdded to those that are selected */
  onLasso(indices: readonly number[], isAdded: boolean): void;
  /** Moves slides before the one at the index `gap`. */
  onMove(indices: ReadonlySet<number>, gap: number): void;
  hovered: ReadonlySignal<Hovered | null>;
}

/** Around the cards of a grid, and inside of a cell. */
const PADDING_REM = { strip: 0.25, grid: 0.75 };
const MARGIN_REM = 0.3;
/** Cards, or rows, that are rendered on either side of the viewport. */
const SPARE = 4;
const SPARE_ROWS = 1;
/** By which a list scrolls while a rectangle is drawn beyond its edge, pixels. */
const SCROLL = 24;
/** Between looks at media that others upload, or that are being converted. */
const POLL_MS = 5_000;

const remPixels = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize);

interface Lasso {
  x: number;
  y: number;
  toX: number;
  toY: number;
}

export const Cards = (props: CardsProps) => {
  const { playlist, path, check, layout, chosen, lead, onSelect, onLasso, onMove, hovered } = props;
  const { texts, media, uploads } = useConsole();
  const known = useComputed(() => new Map(media.list.value?.media.map((each) => [each.filename, each.rendition])));
  const arrivalOf = ({ media_url: url }: SlideDraft): CardProps['arrival'] => {
    if (!url?.startsWith('/media/') || media.list.value === null) return null;
    const name = mediumName(url);
    const upload = uploads.list.value.findLast(({ file }) => file.name === name) ?? null;
    const isComing = upload !== null && isActive(upload);
    return known.value.has(name) && !isComing ? null : { name, upload };
  };
  const isConverting = ({ media_url: url }: SlideDraft): boolean => {
    const rendition = known.value.get(mediumName(url ?? ''));
    return rendition !== undefined && isUnderWay(rendition);
  };
  // The end of an upload of this tab loads the list by itself.
  const isWaiting = playlist.slides.some((slide) => {
    const arrival = arrivalOf(slide);
    return arrival === null ? isConverting(slide) : arrival.upload === null || !isActive(arrival.upload);
  });
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setInterval(() => document.hidden || void media.load(), POLL_MS);
    return () => clearInterval(timer);
  }, [isWaiting]);
  const list = useRef<HTMLUListElement>(null);
  const range = useSignal({ from: 0, to: 24, columns: 1 });
  const lasso = useSignal<Lasso | null>(null);
  const isDragging = useRef(false);
  const isFocusWanted = useRef(false);
  const count = playlist.slides.length;
  const isGrid = layout === 'grid';
  const latest = useRef({ onMove, chosen });
  latest.current = { onMove, chosen };

  const measure = () => {
    const element = list.current;
    const rem = remPixels();
    const padding = PADDING_REM[layout] * rem;
    const style = element && getComputedStyle(element);
    /** From one card to the next, as the style sheet has it. */
    const [width, height] = ['--pitch', '--row'].map(
      (name) => rem * Number.parseFloat(style?.getPropertyValue(name) || '1'),
    ) as [number, number];
    const inside = (element?.clientWidth ?? 0) - 2 * padding;
    const columns = isGrid ? Math.max(1, Math.floor((inside + 1) / width)) : count;
    return { columns, width, height, padding, margin: MARGIN_REM * rem };
  };
  const look = (): void => {
    const element = list.current;
    if (element === null) return;
    const { columns, width, height } = measure();
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = element;
    const next = isGrid
      ? {
          from: Math.max(0, Math.floor(scrollTop / height) - SPARE_ROWS) * columns,
          to: (Math.ceil((scrollTop + clientHeight) / height) + SPARE_ROWS) * columns,
          columns,
        }
      : {
          from: Math.max(0, Math.floor(scrollLeft / width) - SPARE),
          to: Math.ceil((scrollLeft + clientWidth) / width) + SPARE,
          columns,
        };
    const before = range.value;
    if (next.from === before.from && next.to === before.to && columns === before.columns) return;
    // The card that is dragged must stay.
    range.value =
      isDragging.current && columns === before.columns
        ? { from: Math.min(next.from, before.from), to: Math.max(next.to, before.to), columns }
        : next;
  };
  useEffect(() => {
    const observer = new ResizeObserver(look);
    if (list.current !== null) observer.observe(list.current);
    return () => observer.disconnect();
  }, [layout]);
  useLayoutEffect(() => {
    const element = list.current;
    if (element === null) return;
    const { columns, width, height } = measure();
    const [size, place] = isGrid ? [height, Math.floor(lead / columns)] : [width, lead];
    const [start, end] = [place * size, (place + 1) * size];
    if (isGrid) {
      const bottom = end + 2 * PADDING_REM.grid * remPixels();
      if (start < element.scrollTop) element.scrollTop = start;
      else if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight;
    } else if (start < element.scrollLeft) element.scrollLeft = start;
    else if (end > element.scrollLeft + element.clientWidth) element.scrollLeft = end - element.clientWidth;
    look();
  }, [lead, count, layout]);
  /** Whether its card is there. */
  const focusOn = (index: number): boolean => {
    const card = list.current?.querySelector<HTMLElement>(`[aria-posinset="${index + 1}"] button`);
    card?.focus({ preventScroll: true });
    return card != null;
  };
  // A card that was out of sight is there after the next rendering.
  useLayoutEffect(() => {
    if (isFocusWanted.current && focusOn(lead)) isFocusWanted.current = false;
  });

  useEffect(
    () =>
      monitorForElements({
        canMonitor: ({ source }) => typeof source.data['slide'] === 'number',
        onDragStart: () => {
          isDragging.current = true;
        },
        onDrop: ({ source, location }) => {
          isDragging.current = false;
          const target = location.current.dropTargets[0]?.data;
          if (target === undefined) return;
          const from = source.data['slide'] as number;
          const { onMove: move, chosen: marked } = latest.current;
          const gap = (target['index'] as number) + (target['edge'] === 'after' ? 1 : 0);
          move(marked.has(from) ? marked : new Set([from]), gap);
        },
      }),
    [],
  );

  const onKey = (event: KeyboardEvent): void => {
    const card = event.target instanceof Element ? event.target.closest('[aria-posinset]') : null;
    if (card === null) return;
    const index = Number(card.getAttribute('aria-posinset')) - 1;
    const isCommand = event.ctrlKey || event.metaKey;
    if (event.key === ' ' && isCommand) {
      event.preventDefault();
      return onSelect(index, 'toggle');
    }
    const { columns } = measure();
    const next = {
      ArrowLeft: index - 1,
      ArrowRight: index + 1,
      ArrowUp: isGrid ? index - columns : undefined,
      ArrowDown: isGrid ? index + columns : undefined,
      Home: 0,
      End: count - 1,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    if (event.altKey) {
      const marked = chosen.has(index) ? chosen : new Set([index]);
      const gap = next < index ? Math.min(...marked) - (index - next) : Math.max(...marked) + 1 + (next - index);
      isFocusWanted.current = true;
      return onMove(marked, Math.max(0, Math.min(count, gap)));
    }
    const to = Math.max(0, Math.min(count - 1, next));
    if (isCommand) return void focusOn(to);
    isFocusWanted.current = true;
    onSelect(to, event.shiftKey ? 'range' : 'only');
  };

  /** What the rectangle touches. */
  const caught = (): number[] => {
    const drawn = lasso.value;
    if (drawn === null) return [];
    const { padding, ...cells } = measure();
    const rectangle = {
      left: Math.min(drawn.x, drawn.toX) - padding,
      right: Math.max(drawn.x, drawn.toX) - padding,
      top: Math.min(drawn.y, drawn.toY) - padding,
      bottom: Math.max(drawn.y, drawn.toY) - padding,
    };
    return touched(rectangle, cells, count);
  };
  const onPointerDown = (event: PointerEvent): void => {
    const element = list.current;
    const isOnCard = event.target instanceof Element && event.target.closest('button') !== null;
    if (element === null || isOnCard || event.pointerType !== 'mouse' || event.button !== 0) return;
    const { left, top, height } = element.getBoundingClientRect();
    // Its scroll bar is no place to draw.
    if (event.clientY > top + element.clientHeight || event.clientX > left + element.clientWidth || height === 0)
      return;
    const at = ({ clientX, clientY }: PointerEvent): [number, number] => [
      clientX - left + element.scrollLeft,
      clientY - top + element.scrollTop,
    ];
    const [x, y] = at(event);
    const isAdded = event.shiftKey || event.ctrlKey || event.metaKey;
    event.preventDefault();
    element.setPointerCapture(event.pointerId);
    const move = (moved: PointerEvent): void => {
      if (isGrid && moved.clientY > top + height) element.scrollTop += SCROLL;
      if (isGrid && moved.clientY < top) element.scrollTop -= SCROLL;
      const [toX, toY] = at(moved);
      lasso.value = { x, y, toX, toY };
    };
    const end = (): void => {
      element.removeEventListener('pointermove', move);
      const found = caught();
      lasso.value = null;
      if (found.length > 0) onLasso(found, isAdded);
    };
    element.addEventListener('pointermove', move);
    element.addEventListener('pointerup', end, { once: true });
    element.addEventListener('pointercancel', end, { once: true });
  };

  const ids: Ids = playlist.slides.map((slide, index) => ({
    id: slideId(playlist.id, slide, index),
    kind: slide.kind as Slide['kind'],
  }));
  const { columns } = range.value;
  const [from, to] = [Math.min(range.value.from, count), Math.min(range.value.to, count)];
  const tabStop = lead >= from && lead < to ? lead : from;
  const space = (key: string, cards: number) =>
    cards > 0 && (
      <li
        key={key}
        aria-hidden="true"
        class="strip-space"
        style={
          isGrid
            ? { flexBasis: '100%', height: `calc(${Math.ceil(cards / columns)} * var(--row))` }
            : { flexBasis: `calc(${cards} * var(--pitch))` }
        }
      />
    );
  const drawn = lasso.value;
  const gap = hovered.value === 'end' ? count : hovered.value;
  const inside = new Set(caught());
  return (
    <ul
      ref={list}
      class={layout}
      aria-label={texts.editor.slides}
      onScroll={look}
      onKeyDown={onKey}
      onPointerDown={onPointerDown}
    >
      {space('before', from)}
      {playlist.slides.slice(from, to).map((slide, at) => {
        const index = from + at;
        const place = `${path}.slides[${index}]`;
        const hasErrors = issuesAt(check?.errors ?? [], place).length > 0;
        const hasWarnings = issuesAt(check?.warnings ?? [], place).length > 0;
        return (
          <Card
            key={ids[index]?.id}
            slide={slide}
            ids={ids}
            index={index}
            isSelected={chosen.has(index)}
            isCaught={inside.has(index)}
            gap={gap === index ? 'before' : gap === count && index === count - 1 ? 'after' : null}
            moves={chosen.has(index) ? chosen.size : 1}
            isTabStop={index === tabStop}
            fault={hasErrors ? 'error' : hasWarnings ? 'warning' : null}
            arrival={arrivalOf(slide)}
            isConverting={isConverting(slide)}
            onSelect={onSelect}
          />
        );
      })}
      {space('after', count - to)}
      {drawn !== null && (
        <li
          aria-hidden="true"
          class="lasso"
          style={{
            left: `${Math.min(drawn.x, drawn.toX)}px`,
            top: `${Math.min(drawn.y, drawn.toY)}px`,
            width: `${Math.abs(drawn.toX - drawn.x)}px`,
            height: `${Math.abs(drawn.toY - drawn.y)}px`,
          }}
        />
      )}
    </ul>
  );
};
