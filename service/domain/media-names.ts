import { CodedError } from '../contract/errors.ts';

/** Maximum length of a path segment on common file systems, in bytes of UTF-8. */
const MAX_BYTES = 255;

/** Names of devices on Windows: reserved with any extension, in any case, and with spaces before the extension. */
const RESERVED = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:\.|$)/i;

/** What is wrong with a name, as a clause; null if it names the same single file on every platform. */
const findIssue = (name: string): string | null => {
  if (name === '') return 'is empty';
  if (Buffer.byteLength(name) > MAX_BYTES) return `is longer than ${MAX_BYTES} bytes`;
  if (/[\p{Cc}\p{Cs}]/u.test(name)) return 'has control characters';
  if (/[/\\:*?"<>|]/.test(name)) return 'has one of / \\ : * ? " < > |';
  if (name.startsWith('.')) return 'begins with a dot';
  // Windows drops them, so two names would be the same file.
  if (/[. ]$/.test(name)) return 'ends in a dot or a space';
  if (RESERVED.test(name)) return 'is reserved on Windows';
  return null;
};

/** Whether the name is valid for a media file. */
export const isMediaName = (name: string): boolean => findIssue(name) === null;

/**
 * Validates the name of a medium. The name is not normalised (Unicode Standard Annex 15), like the names of files that
 * were copied into the folder by hand: each file is reached by exactly its own name.
 * @throws CodedError `invalid_field`
 */
export const mediaName = (raw: string): string => {
  const issue = findIssue(raw);
  if (issue !== null) throw new CodedError('invalid_field', `The file name ${issue}.`, { field: 'filename' });
  return raw;
};

/** The file name in a `/media/` path, without query and fragment; null if it is not a valid media name. */
export const mediaNameIn = (path: string): string | null => {
  const [, encoded = ''] = /^\/media\/([^/?#]+)(?:[?#].*)?$/.exec(path) ?? [];
  try {
    const name = decodeURIComponent(encoded);
    return isMediaName(name) ? name : null;
  } catch {
    return null;
  }
};
