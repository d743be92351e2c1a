import { CodedError } from '../contract/errors.ts';

/** Longest segment of a path on every file system in use, in bytes of UTF-8. */
const MOST_BYTES = 255;

/** Names of devices on Windows: reserved with any extension, in any case, and with spaces before the extension. */
const RESERVED = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:\.|$)/i;

/** What is wrong with a name; null for one that is the same single file on every platform. */
const fault = (name: string): string | null => {
  if (name === '') return 'is empty';
  if (Buffer.byteLength(name) > MOST_BYTES) return `is longer than ${MOST_BYTES} bytes`;
  if (/[\p{Cc}\p{Cs}]/u.test(name)) return 'has control characters';
  if (/[/\\:*?"<>|]/.test(name)) return 'has one of / \\ : * ? " < > |';
  if (name.startsWith('.')) return 'begins with a dot';
  // Windows drops them, so that two names would be one file.
  if (/[. ]$/.test(name)) return 'ends in a dot or a space';
  if (RESERVED.test(name)) return 'is reserved on Windows';
  return null;
};

/** Whether a file of this name can be a medium. */
export const isMediaName = (name: string): boolean => fault(name) === null;

/**
 * The name of a medium, or `invalid_field`.
 *
 * It is kept as it was sent, and not normalised (Unicode Standard Annex 15): a file that was put into the folder by
 * hand keeps its spelling too, and each is reached by exactly the name that it has.
 */
export const mediaName = (raw: string): string => {
  const wrong = fault(raw);
  if (wrong !== null) throw new CodedError('invalid_field', `The file name ${wrong}.`, { field: 'filename' });
  return raw;
};
