/** Makes what others have written fit for an assistant: bounded, with visible control characters and bare addresses. Pure. */
import { redactedText } from '../../domain/redacted.ts';
import { visible } from '../text.ts';

export const limits = {
  /** Characters of a text, and entries of a list or of an object. */
  text: 2_000,
  list: 200,
  /** Characters of all texts of one answer. */
  answer: 100_000,
  depth: 12,
} as const;

/** The beginning of a text, with a mark; no half of a character. */
const fittedTo = (text: string, most: number): string =>
  most === 0 ? '' : `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;

export interface Bounded {
  value: unknown;
  /** Whether anything was left out. */
  isCut: boolean;
}

/** A JSON value for the field `untrusted` of an answer. */
export const untrusted = (given: unknown): Bounded => {
  let left: number = limits.answer;
  let isCut = false;
  const textOf = (text: string): string => {
    const most = Math.min(limits.text, left);
    const shown = visible(redactedText(text.slice(0, 4 * limits.text)));
    if (shown.length > most || text.length > 4 * limits.text) isCut = true;
    const kept = shown.length > most ? fittedTo(shown, most) : shown;
    left = Math.max(0, left - kept.length);
    return kept;
  };
  const first = <Item>(items: readonly Item[]): Item[] => {
    if (items.length > limits.list) isCut = true;
    return items.slice(0, limits.list);
  };
  const walk = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return textOf(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth === 0 || left === 0) {
      isCut = true;
      return null;
    }
    // What a number or a name takes is counted too.
    left = Math.max(0, left - 8);
    if (Array.isArray(value)) return first(value).map((each) => walk(each, depth - 1));
    return Object.fromEntries(first(Object.entries(value)).map(([key, each]) => [textOf(key), walk(each, depth - 1)]));
  };
  const value = walk(given, limits.depth);
  return { value, isCut };
};
