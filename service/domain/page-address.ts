/** Addresses of pages of others, and where the headers of secrets may go; pure. */
import { parseUrl } from '../contract/url.ts';
import { isSiteAddress, isThisMachine } from './network-scope.ts';

/** The origin of a request, that of a WebSocket as the origin of its page; null: it has none. */
export const originOf = (address: string): string | null => {
  const url = parseUrl(address.replace(/^ws(?=s?:)/i, 'http'));
  return url === null || !/^https?:$/.test(url.protocol) ? null : url.origin;
};

/** What is wrong with an origin that headers are for, as a clause; null: nothing. */
export const originIssue = (text: string): string | null => {
  const url = parseUrl(text);
  if (url === null || !/^https?:$/.test(url.protocol) || /[*\s]|\.$/.test(url.hostname)) {
    return 'it must be an origin such as https://dash.example.com';
  }
  // Nothing that looks alike: no path, no user, no other spelling.
  if (url.origin !== text) return `it must be written as ${url.origin}`;
  if (url.protocol === 'https:' || isSiteAddress(url.hostname) || isThisMachine(url.hostname)) return null;
  return 'over plain http everybody on the way can read it: only https, or an IP address of the local network';
};

/** A part of a style sheet once its escapes are read (CSS Syntax 3, 4.3.7). */
const unescaped = (css: string): string =>
  css.replaceAll(
    /\\(?:([\da-f]{1,6})(?:\r\n|[ \t\r\n\f])?|(\r\n|[\r\n\f])|([^]))/gi,
    (_, digits?: string, newline?: string, other = '') => {
      if (digits === undefined) return newline === undefined ? other : '';
      const code = Number.parseInt(digits, 16);
      return code === 0 || code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code);
    },
  );

const FUNCTION = /url\s*\(/gi;
/** What such a function holds: a string, or characters up to its end. */
const VALUE = /\s*(?:"((?:\\[^]|[^"\\])*)|'((?:\\[^]|[^'\\])*)|((?:\\[^]|[^)\\])*))/y;

/** Why a style sheet for a page would load something of another host, as a clause; null: it does not. */
export const styleIssue = (css: string, address: string): string | null => {
  const plain = unescaped(css);
  const functions = [...css.matchAll(FUNCTION)];
  const isHidden = plain.match(FUNCTION)?.length !== (functions.length || undefined);
  if (isHidden || /@import|image-set\s*\(|\bsrc\s*\(/i.test(plain)) return 'it may load files with url() alone';
  const host = parseUrl(address)?.host;
  // Each by itself: one can stand in a string, or in a comment, and never hides the next one.
  for (const { 0: start, index } of functions) {
    VALUE.lastIndex = index + start.length;
    const [, double, single, bare] = VALUE.exec(css) ?? [];
    const url = parseUrl(unescaped(double ?? single ?? bare ?? '').trim(), address);
    if (url === null || (url.protocol !== 'data:' && url.host !== host)) return 'it may load nothing of other hosts';
  }
  return null;
};
