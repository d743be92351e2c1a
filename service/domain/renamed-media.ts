/** The media that documents name, which follow those that are renamed. Pure. */
import { mapTexts } from './collections.ts';
import { addressOf, loadedAddress, mediaAddress } from './markup.ts';
import { mediaNameIn } from './media-names.ts';
import { isEqual } from './merge-documents.ts';

const IN_MARKUP = loadedAddress('/media/');

/** The address of a medium under its new name, with the query and fragment that it had. */
const renamedAddress = (address: string, to: string): string =>
  address.replace(/^\/media\/[^/?#]+/, () => mediaAddress(to));

const renamedText = (text: string, from: string, to: string): string => {
  if (mediaNameIn(text) === from) return renamedAddress(text, to);
  return text.replace(IN_MARKUP, (written) =>
    mediaNameIn(addressOf(written)) === from ? renamedAddress(written, to) : written,
  );
};

/** Names of the files that a document names, in the places in which {@link withRenamedMedium} renames them. */
export const mediaIn = (value: unknown): string[] => {
  if (typeof value !== 'string') return Object.values(value ?? {}).flatMap(mediaIn);
  if (!value.includes('/media/')) return [];
  return [value, ...(value.match(IN_MARKUP) ?? []).map(addressOf)].flatMap((address) => mediaNameIn(address) ?? []);
};

/**
 * A document in which `/media/TO` stands wherever `/media/FROM` stood: in fields that are addresses, and in markup.
 * @returns `value` itself if it does not name the file
 */
export const withRenamedMedium = <T>(value: T, from: string, to: string): T =>
  mapTexts(value, (text) => (text.includes('/media/') ? renamedText(text, from, to) : text));

/** Whether two documents differ by the names of files alone, as where files were renamed. */
export const isRenaming = (before: unknown, after: unknown): boolean => {
  const [from, to] = [mediaIn(before), mediaIn(after)];
  if (from.length !== to.length) return false;
  const names = new Map(from.map((name, index) => [name, to[index] ?? name]));
  const renamed = [...names].reduce(
    (value, [name, next]) => (name === next ? value : withRenamedMedium(value, name, next)),
    before,
  );
  return renamed !== before && isEqual(renamed, after);
};
