/** A document for those who may look and not edit: its addresses without what may be a key to them. Pure. */
import { parseUrl } from '../contract/url.ts';

/** An address of any scheme: the whole text, so that a sentence is left as it is. */
const address = /^[a-z][a-z\d+.-]*:\/\/\S+$/i;

/** Without user, password, query and fragment. @param isHostAlone without the path, too: that of a calendar is its key */
export const redactedAddress = (text: string, isHostAlone = false): string => {
  const url = address.test(text) ? parseUrl(text) : null;
  if (url === null) return text;
  url.username = '';
  url.password = '';
  url.search = '';
  url.hash = '';
  if (isHostAlone) url.pathname = '/';
  return url.href;
};

/** Of a document. */
const calendars = 'calendars';

const redact = (value: unknown, isHostAlone: boolean): unknown => {
  if (typeof value === 'string') return redactedAddress(value, isHostAlone);
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
