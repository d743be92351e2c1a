/** Slides on the clipboard: copied and cut by keys or buttons, pasted into any playlist, in another tab too. */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { SlideDraft } from '../model/document.ts';

const type = 'application/x-signage-slides';
const MOST_SLIDES = 5_000;

/** What was copied last in this tab: a button cannot read the clipboard. */
const copied = signal<readonly SlideDraft[]>([]);
export const copiedSlides = (): readonly SlideDraft[] => copied.value;

/** Slides as another tab wrote them; nothing of what any other program did. Pure. */
export const readSlides = (text: string): SlideDraft[] => {
  try {
    const given: unknown = JSON.parse(text);
    if (!Array.isArray(given)) return [];
    return (given.slice(0, MOST_SLIDES) as unknown[]).filter(
      (each): each is SlideDraft =>
        typeof each === 'object' && each !== null && 'kind' in each && typeof each.kind === 'string',
    );
  } catch {
    return [];
  }
};

/** Whether keys there are meant for a text or a dialog. */
export const isElsewhere = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('input, textarea, select, .cm-content, dialog') !== null;

interface Clipboard {
  selected(): readonly SlideDraft[];
  onCopied(count: number): void;
  onCut(): void;
  onPaste(slides: readonly SlideDraft[]): void;
}

/** @returns copies and cuts as the keys do */
export const useSlideClipboard = (clipboard: Clipboard): { copy(): void; cut(): void } => {
  const latest = useRef(clipboard);
  latest.current = clipboard;
  useEffect(() => {
    const take = (event: ClipboardEvent): void => {
      const { selected, onCopied, onCut } = latest.current;
      const slides = selected();
      const isText = isElsewhere(event.target) || getSelection()?.isCollapsed === false;
      if (isText || slides.length === 0) return;
      event.preventDefault();
      copied.value = slides;
      event.clipboardData?.setData(type, JSON.stringify(slides));
      if (event.type === 'cut') onCut();
      else onCopied(slides.length);
    };
    const paste = (event: ClipboardEvent): void => {
      if (isElsewhere(event.target) || event.defaultPrevented) return;
      const slides = readSlides(event.clipboardData?.getData(type) ?? '');
      if (slides.length === 0) return;
      event.preventDefault();
      latest.current.onPaste(slides);
    };
    addEventListener('copy', take);
    addEventListener('cut', take);
    addEventListener('paste', paste);
    return () => {
      removeEventListener('copy', take);
      removeEventListener('cut', take);
      removeEventListener('paste', paste);
    };
  }, []);
  const keep = (isCut: boolean): void => {
    const { selected, onCopied, onCut } = latest.current;
    const slides = selected();
    copied.value = slides;
    if (isCut) onCut();
    else onCopied(slides.length);
  };
  return { copy: () => keep(false), cut: () => keep(true) };
};
