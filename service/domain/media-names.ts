import { CodedError } from '../contract/errors.ts';
import { parseUrl } from '../contract/url.ts';

/** Maximum length of a path segment on common file systems, in bytes of UTF-8. */
const MAX_BYTES = 255;

/** Names of devices on Windows: reserved with any extension, in any case, and with spaces before the extension. */
const RESERVED = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:\.|$)/i;

/** What is wrong with a name, as a clause; null if it names the same single file on every platform. */
const findIssue = (name: string): string | null => {
  if (name === '') return 'is empty';
  // The console asks too: browsers have no Buffer.
  if (new TextEncoder().encode(name).length > MAX_BYTES) return `is longer than ${MAX_BYTES} bytes`;
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
 * Validates the name of a medium, and returns its normal form (NFC, Unicode Standard Annex 15): names that look the same
 * are the same, however a system composes their letters.
 * @throws CodedError `invalid_field`
 */
export const mediaName = (raw: string): string => {
  const name = raw.normalize('NFC');
  const issue = findIssue(name);
  if (issue !== null) throw new CodedError('invalid_field', `The file name ${issue}.`, { field: 'filename' });
  return name;
};

/** The file name in a `/media/` path, in its normal form, without query and fragment; null if it is not a valid media name. */
export const mediaNameIn = (path: string): string | null => {
  const [, encoded = ''] = /^\/media\/([^/?#]+)(?:[?#].*)?$/.exec(path) ?? [];
  try {
    const name = decodeURIComponent(encoded).normalize('NFC');
    return isMediaName(name) ? name : null;
  } catch {
    return null;
  }
};

/** The address without user and password. */
export const withoutCredentials = (address: string): string =>
  address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1');

/** A text without the users and passwords of the addresses in it. */
export const withoutPasswords = (text: string): string =>
  text.replaceAll(/\b([a-z][a-z0-9+.-]*:[\\/]{2})[^\s\\/?#]*@/gi, '$1');

/** An entity such as `&#39;` is part of a password. */
const QUOTED_USER = /(?<![\w.%~+-])([\\/]{2})(?:&#\w+;|[^\s\\/?#])*@/g;
/** What stands in quotes, by which it ends, or else the user and password of an address. */
const MARKUP = /[=(]\s*(?:"[^"]*"|'[^']*')|(?<=[:=(]\s?)([\\/]{2})(?:&#\w+;|[^\s\\/?#"<>()[\],;])*@/g;

/** As {@link withoutPasswords}, of markup, whose addresses may have no scheme. */
export const markupWithoutPasswords = (markup: string): string =>
  markup.replace(MARKUP, (found, slashes?: string) => slashes ?? found.replace(QUOTED_USER, '$1'));

/** The normalized address of a remote medium without its fragment; null if it is not an http or https URL. */
export const remoteAddress = (address: string): string | null => {
  const url = /^https?:\/\//i.test(address) ? parseUrl(address) : null;
  if (url === null) return null;
  url.hash = '';
  return url.href;
};

/** The address of a remote medium without credentials and query, which may hold secrets, for logs and reports. */
export const shownAddress = (address: string): string => {
  const { origin, pathname, search } = new URL(address);
  return origin + pathname + (search && '?…');
};
