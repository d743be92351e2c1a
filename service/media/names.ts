import { CodedError } from '../errors.ts';

/** Longest segment of a path on every file system in use, in bytes of UTF-8. */
const longest = 255;

/** Names of devices on Windows: reserved with any extension, in any case, and with spaces before the extension. */
const reserved = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:\.|$)/i;

const refused = (rule: string): CodedError =>
  new CodedError('invalid_field', `The file name ${rule}.`, { field: 'filename' });

/**
 * A name that is one file, the same one, on every platform; `invalid_field` where it isn't.
 *
 * The name is kept as it was sent, and not normalised (Unicode Standard Annex 15): a file dropped into the folder by
 * hand keeps its spelling too, and each is reached by exactly the name that it has.
 */
export const mediaName = (raw: string): string => {
  if (raw === '') throw refused('is empty');
  if (Buffer.byteLength(raw) > longest) throw refused(`is longer than ${longest} bytes`);
  if (/[\p{Cc}\p{Cs}]/u.test(raw)) throw refused('has control characters');
  if (/[/\\:*?"<>|]/.test(raw)) throw refused('has one of / \\ : * ? " < > |');
  if (raw.startsWith('.')) throw refused('begins with a dot');
  // Windows drops them, so that two names would be one file.
  if (/[. ]$/.test(raw)) throw refused('ends in a dot or a space');
  if (reserved.test(raw)) throw refused('is reserved on Windows');
  return raw;
};
