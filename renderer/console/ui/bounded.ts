/**
 * Bounds what one text costs to lay out: a browser takes half a minute for a name of 100,000 combining marks, which anybody
 * may write who edits the content.
 */
import { options } from 'preact';

/** Longer than any text of the console, and than any line of a log that a person reads. */
const MOST_CHARACTERS = 2_000;
/** Longer than any address. */
const MOST_IN_FIELD = 4_096;

const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Cuts each text that is rendered from now on, and each value of a one-line field, which is not edited then: its rest would be lost. */
export const boundTexts = (): void => {
  const before = options.vnode;
  options.vnode = (vnode) => {
    // The vnode of a text has the text as its props.
    const props = vnode.props as unknown;
    if (typeof props === 'string') vnode.props = cut(props, MOST_CHARACTERS) as never;
    else if (vnode.type === 'input') {
      const field = props as { value?: unknown; readOnly?: boolean };
      if (typeof field.value === 'string' && field.value.length > MOST_IN_FIELD) {
        field.value = cut(field.value, MOST_IN_FIELD);
        field.readOnly = true;
      }
    }
    before?.(vnode);
  };
};
