/** A document for those who may look and not edit: its addresses without what may be a key to them. Pure. */
import { parseUrl } from '../contract/url.ts';
import { markupWithoutPasswords } from './media-names.ts';

/** Matches a text that is a single URL of any scheme. */
const whole = /^[a-z][a-z\d+.-]*:\/\/\S+$/i;
/** Matches URLs within a text, such as those in HTML attributes, with or without a scheme. */
const within = /(?:\b[a-z][a-z\d+.-]{1,20}:|(?<![\w.%~:/+-]))\/\/[^\s"'<>]+/gi;

const bareAddress = (address: string, isHostAlone: boolean): string => {
  const url = parseUrl(address);
  if (url === null) {
    const shown = address.replace(/\/\/[^/]*@/, '//').replace(/[?#].*$/, '');
    return isHostAlone ? shown.replace(/(\/\/[^/]*).*$/, '$1/') : shown;
  }
  url.username = '';
  url.password = '';
  url.search = '';
  url.hash = '';
  if (isHostAlone) url.pathname = '/';
  return url.href;
};

/**
 * A text whose addresses are without user, password, query and fragment.
 * @param isHostAlone without the path, too: that of a calendar is its key
 */
export const redactedText = (text: string, isHostAlone = false): string =>
  whole.test(text) && parseUrl(text) !== null
    ? bareAddress(text, isHostAlone)
    : markupWithoutPasswords(text).replace(within, (address) => bareAddress(address, isHostAlone));

/** Of a document. */
const calendars = 'calendars';

const redact = (value: unknown, isHostAlone: boolean): unknown => {
  if (typeof value === 'string') return redactedText(value, isHostAlone);
  if (Array.isArray(value)) return value.map((each) => redact(each, isHostAlone));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, redact(each, isHostAlone || key === calendars)]),
  );
};

/** A part of a content document without credentials. @param path keys from the root */
export const redactedPart = (path: readonly (string | number)[], part: unknown): unknown =>
  redact(part, path.includes(calendars));

/** A content document without credentials. */
export const redacted = (document: unknown): unknown => redact(document, false);
