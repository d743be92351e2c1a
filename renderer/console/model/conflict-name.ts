/** Names what two people changed, for people. Pure. */
import type { Conflict } from '../../../service/domain/merge-documents.ts';
import { type ContentDocument, type Fields, titleOf } from './document.ts';

interface Words {
  /** Names a record of a list at the root. */
  subject: Readonly<Record<string, (values: { name: string }) => string>>;
  /** Labels of fields. */
  label: Readonly<Record<string, string>>;
}

const find = (list: unknown, key: string | number | undefined): Fields | undefined =>
  Array.isArray(list) ? (list as Fields[]).find((each) => (each['slug'] ?? each['id']) === key) : undefined;

/** @param documents the first that has the record names it */
export const conflictName = (
  { path: [list = '', key, ...rest] }: Pick<Conflict, 'path'>,
  documents: readonly ContentDocument[],
  { subject, label }: Words,
): string => {
  const record = documents.map((document) => find(document[list], key)).find((each) => each !== undefined);
  const name = subject[list]?.({ name: String(record?.['name'] || (key ?? '')) });
  const parts = [name ?? [list, key].filter((part) => part !== undefined).join(' › ')];
  const [field, slideKey, ...more] = rest;
  if (field === 'slides' && slideKey !== undefined) {
    const slide = documents
      .map((document) => find(find(document[list], key)?.['slides'], slideKey))
      .find((each) => each !== undefined);
    parts.push(`“${titleOf(slide ?? {}, String(slideKey))}”`);
    parts.push(...more.map((part) => label[part] ?? String(part)));
  } else parts.push(...rest.map((part) => label[part] ?? String(part)));
  return parts.join(' › ');
};
