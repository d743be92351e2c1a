/** The slides of a playlist as a strip: chosen by a click, moved by drag, by buttons or by Alt and an arrow key. */

import { combine } from '@atlaskit/pragmatic-drag-and-drop/combine';
import {
  draggable,
  dropTargetForElements,
  monitorForElements,
} from '@atlaskit/pragmatic-drag-and-drop/element/adapter';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Slide } from '../../../service/contract/playlist.ts';
import { slideId } from '../../../service/domain/slides.ts';
import { issuesAt } from '../model/checks.ts';
import type { PlaylistDraft, SlideDraft } from '../model/document.ts';
import type { ContentCheck } from '../model/wire.ts';
import { useConsole } from '../ui/context.tsx';
import { Icon } from '../ui/icon.tsx';
import { Miniature } from '../ui/miniature.tsx';

interface StripProps {
  playlist: PlaylistDraft;
  /** Of the playlist in the document: `playlists[0]`. */
  path: string;
  check: ContentCheck | null;
  selected: number;
  onSelect(index: number): void;
  onMove(from: number, to: number): void;
}

type Ids = readonly Pick<Slide, 'id' | 'kind'>[];

interface CardProps {
  slide: SlideDraft;
  ids: Ids;
  index: number;
  isSelected: boolean;
  fault: 'error' | 'warning' | null;
  onSelect(index: number): void;
  onMove(from: number, to: number): void;
}

export const titleOf = (slide: SlideDraft, id: string): string =>
  slide.title?.trim() || slide.body?.replace(/<[^>]*>/g, ' ').trim() || slide.media_url || id;

const Card = ({ slide, ids, index, isSelected, fault, onSelect, onMove }: CardProps) => {
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
  useEffect(() => {
    if (isSelected) card.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [isSelected]);
  const moveBy = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined || !event.altKey) return;
    event.preventDefault();
    onMove(index, index + by);
  };
  const notes = fault === null ? '' : `, ${fault === 'error' ? texts.editor.hasErrors : texts.editor.hasWarnings}`;
  return (
    <li class="card" data-edge={edge.value ?? undefined}>
      <button
        ref={card}
        type="button"
        aria-pressed={isSelected}
        aria-label={`${index + 1}: ${titleOf(slide, id)}${notes}`}
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
        <span class="card-title">
          {index + 1}. {titleOf(slide, id)}
        </span>
      </button>
    </li>
  );
};

export const Strip = ({ playlist, path, check, selected, onSelect, onMove }: StripProps) => {
  const { texts } = useConsole();
  const move = useRef(onMove);
  move.current = onMove;
  useEffect(
    () =>
      monitorForElements({
        canMonitor: ({ source }) => typeof source.data['slide'] === 'number',
        onDrop: ({ source, location }) => {
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
  return (
    <ul class="strip" aria-label={texts.editor.slides}>
      {playlist.slides.map((slide, index) => {
        const at = `${path}.slides[${index}]`;
        const hasErrors = issuesAt(check?.errors ?? [], at).length > 0;
        const hasWarnings = issuesAt(check?.warnings ?? [], at).length > 0;
        return (
          <Card
            key={ids[index]?.id}
            slide={slide}
            ids={ids}
            index={index}
            isSelected={index === selected}
            fault={hasErrors ? 'error' : hasWarnings ? 'warning' : null}
            onSelect={onSelect}
            onMove={onMove}
          />
        );
      })}
    </ul>
  );
};
