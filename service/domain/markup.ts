/** URLs in markup. The service copies the URLs that pages load, so both use these rules. */

/** Pattern of a URL up to the character that ends it in an attribute, a style, a list or a quoted text. */
export const addressRest = String.raw`(?:(?!&(?:quot|#39);)[^\s"'()<>,\\])+`;

/** The address of a medium, without the characters that end an address in markup or a style. */
export const mediaAddress = (name: string): string => {
  const encoded = encodeURIComponent(name);
  return `/media/${encoded.replace(/['()!]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)}`;
};

/** Matches URLs with this beginning (a pattern) in places where markup may load them: not in running text. */
export const loadedAddress = (beginning: string): RegExp =>
  new RegExp(String.raw`(?<=["'(=,\s]|&quot;|&#39;)(?:${beginning})${addressRest}`, 'gi');

/** Decodes `&amp;` in a URL from markup. */
export const addressOf = (written: string): string => written.replaceAll('&amp;', '&');

/** All texts in a JSON value. */
export const textsOf = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
};
