/** Files that become slides where they are dropped on the page of a playlist. */
import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { isShown, kindOfType, mediaTypeOf } from '../../../service/domain/media-types.ts';
import { mediumUrl, type SlideDraft } from '../model/document.ts';
import { freeId } from '../model/edit.ts';
import { useConsole } from '../ui/context.tsx';
import { pastedName, useDropped } from '../ui/receive.ts';
import { isElsewhere } from './clipboard.ts';

/** The kind of slide that shows a file; null: none does. */
const kindOf = (name: string): string | null => {
  const type = mediaTypeOf(name);
  return type !== null && isShown(type) ? kindOfType(type) : null;
};

/**
 * The slides of files, without those that a slide already waits for. Pure.
 * @param slides those whose media have not arrived
 * @param taken ids that they may not have
 * @param idEnd of their ids
 */
export const slidesOfFiles = (
  names: readonly string[],
  slides: readonly SlideDraft[],
  taken: readonly string[],
  idEnd?: string,
): SlideDraft[] => {
  const ids = [...taken];
  return names.flatMap((name) => {
    const kind = kindOf(name);
    const media_url = mediumUrl(name);
    if (kind === null || slides.some((slide) => slide.media_url === media_url)) return [];
    const id = freeId(name.replace(/\.[^.]*$/, ''), ids, idEnd);
    ids.push(id);
    return [{ id, kind, media_url }];
  });
};

/** The gap between slides under the pointer; null: it is over no slide. */
const gapAt = (event: DragEvent): number | null => {
  const card = event.target instanceof Element ? event.target.closest('[aria-posinset]') : null;
  if (card === null) return null;
  const { left, width } = card.getBoundingClientRect();
  return Number(card.getAttribute('aria-posinset')) - (event.clientX < left + width / 2 ? 1 : 0);
};

/** Where the files that are dragged over the page would be: before the slide of this index, or at the end. */
export type Hovered = number | 'end';

/**
 * @param onFiles `gap`: the index before which they were dropped; null: no place was meant; `pasted`: after the selection
 * @returns null: no files are dragged over the page
 */
export const useDroppedFiles = (
  onFiles: (files: File[], gap: number | null | 'pasted') => Promise<void>,
): ReadonlySignal<Hovered | null> => {
  const { announcer } = useConsole();
  const dropped = useDropped();
  const latest = useRef(onFiles);
  latest.current = onFiles;
  const hovered = useSignal<Hovered | null>(null);
  useEffect(() => {
    const over = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes('Files') !== true) return;
      // The rest of the page then knows that it is done.
      event.preventDefault();
      hovered.value = gapAt(event) ?? 'end';
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) hovered.value = null;
    };
    const drop = (event: DragEvent): void => {
      hovered.value = null;
      if (event.dataTransfer === null || event.dataTransfer.files.length === 0) return;
      event.preventDefault();
      const gap = gapAt(event);
      void dropped(event.dataTransfer)
        .then((files) => latest.current(files, gap))
        .catch(announcer.report);
    };
    const paste = (event: ClipboardEvent): void => {
      const files = [...(event.clipboardData?.files ?? [])];
      // Office programs put a picture of a text beside it.
      const isText = isElsewhere(event.target) && event.clipboardData?.types.includes('text/plain') === true;
      if (files.length === 0 || isText) return;
      event.preventDefault();
      const now = new Date();
      const given = files.map((file) =>
        file.name === 'image.png' ? new File([file], pastedName(file.type, now), { type: file.type }) : file,
      );
      void latest.current(given, 'pasted').catch(announcer.report);
    };
    addEventListener('dragover', over, true);
    addEventListener('dragleave', leave, true);
    addEventListener('drop', drop, true);
    addEventListener('paste', paste);
    return () => {
      removeEventListener('dragover', over, true);
      removeEventListener('dragleave', leave, true);
      removeEventListener('drop', drop, true);
      removeEventListener('paste', paste);
    };
  }, []);
  return hovered;
};
