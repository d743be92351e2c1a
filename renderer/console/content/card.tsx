/** One slide of the strip: chosen by a click, moved by drag or by Alt and an arrow key. */
import { combine } from '@atlaskit/pragmatic-drag-and-drop/combine';
import { draggable, dropTargetForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Slide } from '../../../service/contract/playlist.ts';
import type { SlideDraft } from '../model/document.ts';
import { titleOf } from '../model/titles.ts';
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
  onSelect(index: number): void;
  onMove(from: number, to: number): void;
}

export const Card = ({ slide, ids, index, isSelected, fault, onSelect, onMove }: CardProps) => {
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
        <span class="card-title">
          {index + 1}. {titleOf(slide, id)}
          <span class="unseen">{notes}</span>
        </span>
      </button>
    </li>
  );
};
