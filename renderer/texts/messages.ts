/**
 * The texts of the pages. A language is one JSON file in this folder, named by its BCP 47 tag; the keys and the
 * placeholders are those of English. Its sections are the pages.
 */
import { choose } from '../shared/language.ts';

/**
 * A text with `{placeholders}`, the forms of one, or a group of them. A form is a plural category of the language
 * (CLDR: `one`, `few`, `other`) or an exact number (`=0`), which goes first; `{count}` decides.
 */
export type Message = string | { readonly [key: string]: Message };

type Forms = Readonly<Record<string, string>>;

export const placeholdersIn = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

export const isPlural = (message: Message): message is Forms =>
  typeof message !== 'string' && typeof message.other === 'string';

/** Returns the messages as texts: what has placeholders becomes a function of their values. */
export const createTexts = <Texts>(messages: Message | undefined, tag: string): Texts => {
  // Made when a text needs them: both take the page's start tens of milliseconds on a small box.
  let number: Intl.NumberFormat | undefined;
  let plural: Intl.PluralRules | undefined;

  const fill = (text: string, values: Readonly<Record<string, string | number>>): string =>
    text.replace(/\{(\w+)\}/g, (placeholder, name: string) => {
      const value = values[name] ?? placeholder;
      if (typeof value !== 'number') return value;
      number ??= new Intl.NumberFormat(tag);
      return number.format(value);
    });

  const textOf = (message: Message): unknown => {
    if (typeof message === 'string') {
      if (placeholdersIn(message).length === 0) return message;
      return (values: Record<string, string | number>) => fill(message, values);
    }
    if (!isPlural(message)) {
      return Object.fromEntries(Object.entries(message).map(([key, each]) => [key, textOf(each)]));
    }
    return (values: { count: number }) => {
      const { count } = values;
      plural ??= new Intl.PluralRules(tag);
      return fill(message[`=${count}`] ?? message[plural.select(count)] ?? message.other ?? '', values);
    };
  };
  return textOf(messages ?? {}) as Texts;
};

/** Returns the texts in the first available of the `wanted` languages, else in English. */
export const textsFor = <Texts>(
  languages: Readonly<Record<string, Message>>,
  wanted: readonly string[],
): Texts & { tag: string } => {
  const tag = choose(Object.keys(languages), wanted);
  return { ...createTexts<Texts>(languages[tag], tag), tag };
};
