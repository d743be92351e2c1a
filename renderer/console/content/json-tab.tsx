/** The document as JSON, for those who want it; with import and export of one file. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, defaultHighlightStyle, foldGutter, syntaxHighlighting } from '@codemirror/language';
import { linter } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { merge } from '../../../service/domain/merge-documents.ts';
import { type ContentDocument, isEqual } from '../model/document.ts';
import { useConsole } from '../ui/context.tsx';
import { Button, Fault } from '../ui/controls.tsx';
import { Icon } from '../ui/icon.tsx';
import { saveFile } from '../ui/save-file.ts';

export type JsonEditor = ReturnType<typeof createJsonEditor>;

interface Options {
  text: string;
  /** Read aloud. */
  label: string;
  onChange(text: string): void;
}

/** Colours of the page, which reach into the shadow root as custom properties. */
const theme = EditorView.theme({
  '&': { height: '100%', color: 'var(--ink)', backgroundColor: 'var(--card)', fontSize: '0.875rem' },
  '.cm-scroller': { fontFamily: 'ui-monospace, "Cascadia Code", Menlo, Consolas, monospace', lineHeight: '1.5' },
  '.cm-gutters': { backgroundColor: 'var(--sunk)', color: 'var(--soft)', border: 'none' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--info-ground) !important' },
  '.cm-content *': { color: 'inherit !important' },
});

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** CodeMirror for JSON, in a shadow root: there its styles need no exception from the policy of the page. */
export const createJsonEditor = (host: HTMLElement, { text, label, onChange }: Options) => {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const parent = document.createElement('div');
  parent.style.height = '100%';
  root.replaceChildren(parent);
  let isShowing = false;
  const view = new EditorView({
    root,
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        foldGutter(),
        history(),
        bracketMatching(),
        highlightSelectionMatches(),
        syntaxHighlighting(defaultHighlightStyle),
        json(),
        linter(jsonParseLinter()),
        theme,
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        // Escape, then Tab leaves the editor.
        keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, indentWithTab]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !isShowing) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    /** Shows another document, unless the editor has it already. */
    show: (content: unknown): void => {
      if (isEqual(parsed(view.state.doc.toString()), content)) return;
      isShowing = true;
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: `${JSON.stringify(content, null, 2)}\n` },
      });
      isShowing = false;
    },
    close: (): void => view.destroy(),
  };
};

/** As an editor would write it. */
const spell = (content: ContentDocument | null): string => `${JSON.stringify(content, null, 2)}\n`;

const isDocument = (value: unknown): value is ContentDocument =>
  typeof value === 'object' && value !== null && Array.isArray((value as { screens?: unknown }).screens);

const MOST_BYTES = 4 * 1024 ** 2;

/** What was typed and is no document yet, for when the tab is shown again; null: nothing. */
let unfinished: { text: string; from: ContentDocument | null; fault: string } | null = null;

export const JsonTab = () => {
  const { draft: openDraft, texts, announcer, format } = useConsole();
  const draft = openDraft();
  const words = texts.json;
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<JsonEditor | null>(null);
  const fault = useSignal(unfinished?.fault ?? null);
  const content = draft.content.value;
  /** What the text of the editor began from. */
  const shown = useRef(unfinished === null ? content : unfinished.from);

  const take = (text: string, from = shown.current): boolean => {
    try {
      const value: unknown = JSON.parse(text);
      if (!isDocument(value)) throw new Error(words.noDocument);
      fault.value = null;
      shown.current = value;
      // What came while the text was no document stays.
      const now = draft.content.peek();
      draft.edit(isEqual(from, now) ? value : (merge(from, value, now).value as ContentDocument), 'json');
      return true;
    } catch (error) {
      fault.value = (error as Error).message;
      return false;
    }
  };

  useEffect(() => {
    if (host.current === null) return undefined;
    editor.current = createJsonEditor(host.current, {
      text: unfinished?.text ?? spell(content),
      label: words.label,
      onChange: (text) => {
        unfinished = take(text) ? null : { text, from: shown.current, fault: fault.value ?? '' };
      },
    });
    return () => editor.current?.close();
  }, []);
  // An edit from elsewhere, such as undo; what is being typed is unchanged.
  useEffect(() => {
    if (fault.value !== null) return;
    editor.current?.show(content);
    shown.current = content;
  }, [content, fault.value]);

  const load = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    if (file.size > MOST_BYTES) return announcer.complain(words.tooLarge({ limit: format.bytes(MOST_BYTES) }));
    if (!take((await file.text()).replace(/^\uFEFF/, ''), draft.content.peek()))
      return announcer.complain(words.noJson({ reason: fault.value ?? '' }));
    unfinished = null;
    editor.current?.show(draft.content.value);
    announcer.say(words.imported);
  };

  const save = (): void => {
    const name = `content-${new Date().toISOString().slice(0, 10)}.json`;
    saveFile(name, new Blob([spell(content)], { type: 'application/json' }));
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
        <Button onClick={save}>
          <Icon name="download" /> {words.save}
        </Button>
      </div>
      <Fault>{fault.value !== null && words.fault({ reason: fault.value })}</Fault>
      {fault.value !== null && (
        <div class="buttons">
          <Button
            class="small"
            onClick={() => {
              unfinished = null;
              fault.value = null;
            }}
          >
            {words.drop}
          </Button>
        </div>
      )}
      <div ref={host} class="json-editor" />
    </div>
  );
};
