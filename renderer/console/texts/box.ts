/**
 * The sentences of boxes in the language of the console. Boxes write English, for logs and programs too; the languages have
 * each sentence as a text with placeholders, and what stands in their place is translated by the group of that name.
 */
import type { Texts } from 'virtual:texts/console';
import type { Message } from '../../texts/messages.ts';
import type { ContentIssue } from '../model/wire.ts';

/** The texts of the console, and what a box says in its language; unknown sentences stay as they are. */
export type ConsoleTexts = Texts & { ofBox(sentence: string): string };

interface Pattern {
  /** What stands around the placeholders, in order; one more than these. */
  literals: readonly string[];
  names: readonly string[];
  translation: string;
}

const MOST_LEVELS = 6;
/** The path of a field, and the title of a slide in quotes, with which a message may begin. */
const places = /^(?:[A-Za-z]\w*(?:\[\d+\]|\.[\w-]+)*: )?(?:"(?:[^"\\]|\\.)*": )?/;
const placeholder = /\{(\w+)\}/;

const groupOf = (message: Message | undefined): Readonly<Record<string, string>> =>
  typeof message === 'object' ? (message as Record<string, string>) : {};

const patternsOf = (english: Message | undefined, own: Message | undefined): Pattern[] =>
  Object.entries(groupOf(english))
    .map(([key, text]) => {
      const parts = text.split(placeholder);
      return {
        literals: parts.filter((_, index) => index % 2 === 0),
        names: parts.filter((_, index) => index % 2 === 1),
        translation: groupOf(own)[key] ?? text,
      };
    })
    .toSorted((a, b) => b.literals.join('').length - a.literals.join('').length);

/** What stands in the place of the placeholders; null: the text is another one. Linear, because anybody may write it. */
const valuesIn = (text: string, { literals, names }: Pattern): string[] | null => {
  const [first = '', ...others] = literals;
  if (names.length === 0) return text === first ? [] : null;
  if (!text.startsWith(first)) return null;
  const values: string[] = [];
  let at = first.length;
  for (const [index, literal] of others.entries()) {
    const isLast = index === others.length - 1;
    const end = isLast ? text.length - literal.length : text.indexOf(literal, at);
    if (end < at || (isLast && !text.endsWith(literal))) return null;
    if (end === at && names[index] !== 'hint' && names[index] !== 'agreement') return null;
    values.push(text.slice(at, end));
    at = end + literal.length;
  }
  return values;
};

/**
 * @param english the texts with placeholders
 * @param own the same in the language of the console
 * @param onUnknown called with what has no text, and the group in which it was looked for
 */
export const createBoxTexts = (
  english: Message | undefined,
  own: Message | undefined,
  onUnknown: (text: string, group: string) => void = () => {},
): ConsoleTexts['ofBox'] => {
  const [from, to] = [english, own] as Record<string, Message>[];
  const groups = new Map(Object.keys(from ?? {}).map((name) => [name, patternsOf(from?.[name], to?.[name])]));

  const translate = (text: string, group: string, levels: number): string | null => {
    for (const pattern of groups.get(group) ?? []) {
      const values = levels > 0 ? valuesIn(text, pattern) : null;
      if (values === null) continue;
      const named = new Map(
        pattern.names.map((name, index) => {
          const value = values[index] ?? '';
          const inGroup = name.replace(/\d$/, '');
          return [name, (inGroup === 'sentences' ? sentence : inside(inGroup))(value, levels - 1)];
        }),
      );
      return pattern.translation.replace(/\{(\w+)\}/g, (same, name: string) => named.get(name) ?? same);
    }
    return null;
  };
  const inside =
    (group: string) =>
    (text: string, levels: number): string => {
      const found = translate(text, group, levels);
      if (found === null && groups.has(group)) onUnknown(text, group);
      return found ?? text;
    };
  const sentence = (text: string, levels: number): string => {
    const whole = translate(text, 'refusals', levels) ?? translate(text, 'sentences', levels);
    const [place = ''] = places.exec(text) ?? [];
    if (whole !== null) return whole;
    if (place !== '') return place + sentence(text.slice(place.length), MOST_LEVELS);
    onUnknown(text, 'sentences');
    return text;
  };
  return (text) => sentence(text, MOST_LEVELS);
};

export const issuesOfBox = (issues: readonly ContentIssue[], { ofBox }: Pick<ConsoleTexts, 'ofBox'>): ContentIssue[] =>
  issues.map(({ path, message }) => ({ path, message: ofBox(message) }));
