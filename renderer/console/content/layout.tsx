/** The layout of a screen in the list of screens; its editor, with a preview by the player, is loaded once it is opened. */
import { useSignal } from '@preact/signals';
import type { ContentDocument, ScreenDraft } from '../model/document.ts';
import { useConsole } from '../ui/context.tsx';
import { Lazy } from '../ui/lazy.tsx';
import { wordOf } from '../ui/words.ts';

const editor = async () => (await import('./layout-editor.tsx')).LayoutEditor;

interface LayoutProps {
  document: ContentDocument;
  screen: ScreenDraft;
  onChange(screen: ScreenDraft, group: string): void;
}

export const Layout = (props: LayoutProps) => {
  const { texts } = useConsole();
  const isOpen = useSignal(false);
  const words = texts.layout;
  return (
    <details class="more-fields" onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>{words.summary({ layout: wordOf(words.layout, props.screen.layout ?? 'full') })}</summary>
      {isOpen.value && <Lazy load={editor} with={{ ...props }} />}
    </details>
  );
};
