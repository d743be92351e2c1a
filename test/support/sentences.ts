/** Checks that what a box says to a page is known in German, so that no new sentence is shown in English there. */
import { readFileSync } from 'node:fs';
import { createBoxTexts } from '../../renderer/console/texts/box.ts';
import type { Message } from '../../renderer/texts/messages.ts';

const section = (tag: string): Message | undefined =>
  (
    JSON.parse(readFileSync(new URL(`../../renderer/texts/${tag}.json`, import.meta.url), 'utf8')) as Record<
      string,
      Message
    >
  )['box'];

/** Groups whose parts may be names or values. */
const open: readonly string[] = ['either', 'hint', 'agreement', 'what', 'meaning'];

let unknown: string[] = [];
export const inGerman = createBoxTexts(section('en'), section('de'), (text, group) => {
  if (!open.includes(group)) unknown.push(text);
});

interface Spoken {
  warnings?: unknown[];
  errors?: unknown[];
  content?: Spoken;
  error?: Spoken & { code?: string; message?: string };
}

const textOf = (each: unknown): string[] => {
  if (typeof each === 'string') return [each];
  const { message } = (each ?? {}) as { message?: unknown };
  return typeof message === 'string' ? [message] : [];
};

/** The sentences of an answer that the console shows to people. */
const sentencesOf = ({ warnings = [], errors = [], content = {}, error = {} }: Spoken): string[] => [
  ...[warnings, errors, content.warnings ?? [], content.errors ?? [], error.errors ?? []].flat().flatMap(textOf),
];

/** What in them has no German text. */
export const untranslated = (body: unknown): string[] => {
  unknown = [];
  if (typeof body === 'object' && body !== null) for (const each of sentencesOf(body)) inGerman(each);
  return unknown;
};
