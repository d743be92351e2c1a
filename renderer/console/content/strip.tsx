/** The slides of a playlist as a strip. Only the visible cards are in the DOM: a playlist can have thousands. */

import { combine } from '@atlaskit/pragmatic-drag-and-drop/combine';
import {
  draggable,
  dropTargetForElements,
  monitorForElements,
} from '@atlaskit/pragmatic-drag-and-drop/element/adapter';
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Slide } from '../../../service/contract/playlist.ts';
import { slideId } from '../../../service/domain/slides.ts';
import { issuesAt, mediumName, type PlaylistDraft, type SlideDraft, titleOf } from '../model/document.ts';
import type { ContentCheck } from '../model/wire.ts';
import { isActive, type Upload } from '../stores/uploads.ts';
import { useConsole } from '../ui/context.tsx';
import { Icon } from '../ui/icon.tsx';
import { Miniature } from '../ui/miniature.tsx';

export type Ids = readonly Pick<Slide, 'id' | 'kind'>[];

interface CardProps {
  slide: SlideDraft;
  ids: Ids;
  index: number;
  isSelected: boolean;
  fault: 'error' | 'warning' | null;
  /** Of its medium; null: it is there, as far as is known. */
  arrival: { name: string; upload: Upload | null } | null;
  onSelect(index: number): void;
  onMove(from: number, to: number): void;
}

/** One slide of the strip: chosen by a click, moved by drag or by Alt and an arrow key. */
export const Card = ({ slide, ids, index, isSelected, fault, arrival, onSelect, onMove }: CardProps) => {
  const { texts } = useConsole();
  const card = useRef<HTMLButtonElement>(null);
  const edge = useSignal<'before' | 'after' | null>(null);
  const id = ids[index]?.id ?? '';
  useEffect(() => {
    const element = card.current;
    if (element === null) return undefined;
    return combine(
      draggable({ element, getInitialData: () => ({ slide: index }) }),
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
  const moveBy = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined || !event.altKey) return;
    event.preventDefault();
    onMove(index, index + by);
  };
  const notes = fault === null ? '' : `, ${fault === 'error' ? texts.editor.hasErrors : texts.editor.hasWarnings}`;
  return (
    <li class="card" data-edge={edge.value ?? undefined} aria-posinset={index + 1} aria-setsize={ids.length}>
      <button
        ref={card}
        type="button"
        aria-pressed={isSelected}
        aria-keyshortcuts="Alt+ArrowLeft Alt+ArrowRight"
        onClick={() => onSelect(index)}
        onKeyDown={moveBy}
      >
        <span class="card-picture">
          <Miniature slide={slide} id={id} among={ids} />
          {fault !== null && (
            <span class={`card-fault ${fault}`}>
              <Icon name="warning" />
            </span>
          )}
        </span>
        {arrival !== null && <Arrival {...arrival} />}
        <span class="card-title">
          {index + 1}. {titleOf(slide, id)}
          <span class="unseen">{notes}</span>
        </span>
      </button>
    </li>
  );
};

/** The upload of the medium of a slide, or that it is waited for. */
const Arrival = ({ name, upload }: NonNullable<CardProps['arrival']>) => {
  const { texts } = useConsole();
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

interface StripProps {
  playlist: PlaylistDraft;
  /** Of the playlist in the document: `playlists[0]`. */
  path: string;
  check: ContentCheck | null;
  selected: number;
  onSelect(index: number): void;
  onMove(from: number, to: number): void;
}

/** From one card to the next, in rem; the style sheet has the same. */
const PITCH_REM = 10.85;
/** Cards that are rendered on either side of the viewport. */
const SPARE = 4;

const remPixels = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize);

export const Strip = ({ playlist, path, check, selected, onSelect, onMove }: StripProps) => {
  const { texts, media, uploads } = useConsole();
  const known = useComputed(() => new Set(media.list.value?.media.map(({ filename }) => filename)));
  const arrivalOf = ({ media_url: url }: SlideDraft): CardProps['arrival'] => {
    if (!url?.startsWith('/media/') || media.list.value === null) return null;
    const name = mediumName(url);
    const upload = uploads.list.value.findLast(({ file }) => file.name === name) ?? null;
    const isComing = upload !== null && isActive(upload);
    return known.value.has(name) && !isComing ? null : { name, upload };
  };
  const list = useRef<HTMLUListElement>(null);
  const range = useSignal({ from: 0, to: 24 });
  const isDragging = useRef(false);
  const move = useRef(onMove);
  move.current = onMove;
  const count = playlist.slides.length;

  const look = (): void => {
    const element = list.current;
    if (element === null) return;
    const pitch = PITCH_REM * remPixels();
    const from = Math.max(0, Math.floor(element.scrollLeft / pitch) - SPARE);
    const to = Math.ceil((element.scrollLeft + element.clientWidth) / pitch) + SPARE;
    const before = range.value;
    if (from === before.from && to === before.to) return;
    // The card that is dragged must stay.
    range.value = isDragging.current
      ? { from: Math.min(from, before.from), to: Math.max(to, before.to) }
      : { from, to };
  };
  useEffect(() => {
    const observer = new ResizeObserver(look);
    if (list.current !== null) observer.observe(list.current);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = list.current;
    if (element === null) return;
    const pitch = PITCH_REM * remPixels();
    const [start, end] = [selected * pitch, (selected + 1) * pitch];
    if (start < element.scrollLeft) element.scrollLeft = start;
    else if (end > element.scrollLeft + element.clientWidth) element.scrollLeft = end - element.clientWidth;
    look();
  }, [selected, count]);

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
          const gap = (target['index'] as number) + (target['edge'] === 'after' ? 1 : 0);
          move.current(from, gap > from ? gap - 1 : gap);
        },
      }),
    [],
  );

  const ids: Ids = playlist.slides.map((slide, index) => ({
    id: slideId(playlist.id, slide, index),
    kind: slide.kind as Slide['kind'],
  }));
  const [from, to] = [Math.min(range.value.from, count), Math.min(range.value.to, count)];
  const space = (cards: number) =>
    cards > 0 && (
      <li
        key={`space ${cards}`}
        aria-hidden="true"
        class="strip-space"
        style={{ flexBasis: `${cards * PITCH_REM}rem` }}
      />
    );
  return (
    <ul ref={list} class="strip" aria-label={texts.editor.slides} onScroll={look}>
      {space(from)}
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
            isSelected={index === selected}
            fault={hasErrors ? 'error' : hasWarnings ? 'warning' : null}
            arrival={arrivalOf(slide)}
            onSelect={onSelect}
            onMove={onMove}
          />
        );
      })}
      {space(count - to)}
    </ul>
  );
};
