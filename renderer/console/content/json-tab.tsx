/** The document as JSON, for those who want it; with import and export of one file. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { ContentDocument } from '../model/document.ts';
import { useConsole } from '../ui/context.tsx';
import { Icon } from '../ui/icon.tsx';
import { createJsonEditor, type JsonEditor } from './json-editor.ts';

/** As an editor would write it. */
const spell = (content: ContentDocument | null): string => `${JSON.stringify(content, null, 2)}\n`;

const isDocument = (value: unknown): value is ContentDocument =>
  typeof value === 'object' && value !== null && Array.isArray((value as { screens?: unknown }).screens);

const MOST_BYTES = 4 * 1024 ** 2;

export const JsonTab = () => {
  const { draft: openDraft, texts, announcer, format } = useConsole();
  const draft = openDraft();
  const words = texts.json;
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<JsonEditor | null>(null);
  const fault = useSignal<string | null>(null);
  const content = draft.content.value;

  const take = (text: string): boolean => {
    try {
      const value: unknown = JSON.parse(text);
      if (!isDocument(value)) throw new Error(words.noDocument);
      fault.value = null;
      draft.edit(value, 'json');
      return true;
    } catch (error) {
      fault.value = (error as Error).message;
      return false;
    }
  };

  useEffect(() => {
    if (host.current === null) return undefined;
    editor.current = createJsonEditor(host.current, { text: spell(content), label: words.label, onChange: take });
    return () => editor.current?.close();
  }, []);
  // An edit from elsewhere, such as undo; what is being typed is unchanged.
  useEffect(() => {
    if (fault.value === null) editor.current?.show(content);
  }, [content]);

  const load = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    if (file.size > MOST_BYTES) return announcer.complain(words.tooLarge({ limit: format.bytes(MOST_BYTES) }));
    if (!take((await file.text()).replace(/^\uFEFF/, '')))
      return announcer.complain(words.noJson({ reason: fault.value ?? '' }));
    editor.current?.show(draft.content.value);
    announcer.say(words.imported);
  };

  const save = (): void => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([spell(content)], { type: 'application/json' }));
    link.download = `content-${new Date().toISOString().slice(0, 10)}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };

  return (
    <div class="stack">
      <div class="buttons">
        <label class="button">
          <Icon name="upload" /> {words.load}
          <input
            type="file"
            class="unseen"
            accept="application/json,.json"
            onChange={(event) => {
              void load(event.currentTarget.files?.[0]);
              event.currentTarget.value = '';
            }}
          />
        </label>
        <button type="button" class="button" onClick={save}>
          <Icon name="download" /> {words.save}
        </button>
      </div>
      <p class="fault" role="alert">
        {fault.value !== null && words.fault({ reason: fault.value })}
      </p>
      <div ref={host} class="json-editor" />
    </div>
  );
};
