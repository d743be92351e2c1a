/** CodeMirror for JSON, in a shadow root: there its styles need no exception from the policy of the page. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, defaultHighlightStyle, foldGutter, syntaxHighlighting } from '@codemirror/language';
import { linter } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { isEqual } from '../model/document.ts';

export interface JsonEditor {
  /** Shows another document, unless the editor has it already. */
  show(content: unknown): void;
  close(): void;
}

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

export const createJsonEditor = (host: HTMLElement, { text, label, onChange }: Options): JsonEditor => {
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
    show: (content) => {
      if (isEqual(parsed(view.state.doc.toString()), content)) return;
      isShowing = true;
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: `${JSON.stringify(content, null, 2)}\n` },
      });
      isShowing = false;
    },
    close: () => view.destroy(),
  };
};
