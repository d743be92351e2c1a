/** Addresses in markup: the service copies those that pages load, so both must see the same ones. */

/** An address goes on up to what ends it in an attribute, a style, a list or a quoted text. */
export const addressRest = String.raw`(?:(?!&(?:quot|#39);)[^\s"'()<>,\\])+`;

/** Addresses that begin in one of these ways (a pattern), where markup may load something: not in running text. */
export const loadedAddress = (beginning: string): RegExp =>
  new RegExp(String.raw`(?<=["'(=,\s]|&quot;|&#39;)(?:${beginning})${addressRest}`, 'gi');

/** An address as markup means it: an ampersand stands there as an entity. */
export const addressOf = (written: string): string => written.replaceAll('&amp;', '&');
