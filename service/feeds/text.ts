/** Bytes to text, and markup to plain text. */

/** The characters 0x80 to 0x9f of Windows-1252; Node 20 decodes it as ISO 8859-1, where they are controls. */
const windows = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

const decode = (label: string, bytes: Uint8Array): string | null => {
  try {
    const decoder = new TextDecoder(label);
    // The bytes are known not to be valid UTF-8: the label is wrong.
    if (decoder.encoding === 'utf-8') return null;
    const text = decoder.decode(bytes);
    if (decoder.encoding !== 'windows-1252') return text;
    return text.replace(/[\u0080-\u009f]/g, (control) => windows[control.charCodeAt(0) - 0x80] ?? control);
  } catch {
    // Unknown encoding label.
    return null;
  }
};

const utf8 = (bytes: Uint8Array): string | null => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
};

/** UTF-8 with some broken characters; null: more are broken than not. */
const brokenUtf8 = (bytes: Uint8Array): string | null => {
  const text = new TextDecoder().decode(bytes);
  const wide = text.replace(/[\u0000-\u007f]+/g, '');
  return wide.replaceAll('\ufffd', '').length * 2 > wide.length ? text : null;
};

/** UTF-16 by its byte order mark, or by a first character that takes two bytes (XML 1.0, appendix F). */
const wideLabel = ([first, second]: Uint8Array): string | null => {
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'utf-16le';
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0)) return 'utf-16be';
  return null;
};

/**
 * The lines of a calendar joined where they are folded, which may be inside of a character (RFC 5545, 3.1): this comes before
 * its bytes are decoded. Not those of UTF-16, where these bytes are parts of other characters: they are joined as text.
 */
export const unfolded = (bytes: Uint8Array): Uint8Array =>
  wideLabel(bytes) !== null
    ? bytes
    : Buffer.from(
        Buffer.from(bytes)
          .toString('latin1')
          .replace(/\r?\n[ \t]/g, ''),
        'latin1',
      );

/**
 * Decodes a document. The first that applies: byte order mark; UTF-8 if the bytes are valid UTF-8, even if another charset
 * is declared (other encodings are not valid UTF-8 by chance); charset of the media type; XML declaration; UTF-8 if most
 * of what is not ASCII is valid; Windows-1252.
 */
export const decodeDocument = (bytes: Uint8Array, charset: string | null): string => {
  const wide = bytes.length > 1 ? wideLabel(bytes) : null;
  if (wide !== null) return new TextDecoder(wide).decode(bytes);
  const head = String.fromCharCode(...bytes.subarray(0, 200));
  const declared = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)/i.exec(head)?.[1];
  // ISO-2022 is the only encoding in use whose bytes are valid UTF-8 with another meaning.
  const isEscaped = [charset, declared].some((label) => /^iso-2022-/i.test(label ?? ''));
  return (
    (isEscaped ? null : utf8(bytes)) ??
    (charset === null ? null : decode(charset, bytes)) ??
    (declared === undefined ? null : decode(declared, bytes)) ??
    brokenUtf8(bytes) ??
    decode('windows-1252', bytes) ??
    ''
  );
};

/** HTML entity names of the characters 160 to 255, in order. */
const latin =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro ' +
  'para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil ' +
  'Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave ' +
  'Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml ' +
  'igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute ' +
  'thorn yuml';
const names: ReadonlyMap<string, string> = new Map([
  ...latin.split(' ').map((name, at): [string, string] => [name, String.fromCharCode(160 + at)]),
  ...Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", ndash: '–', mdash: '—', hellip: '…' }),
  ...Object.entries({ lsquo: '‘', rsquo: '’', sbquo: '‚', ldquo: '“', rdquo: '”', bdquo: '„', lsaquo: '‹' }),
  ...Object.entries({ rsaquo: '›', bull: '•', euro: '€', trade: '™', thinsp: ' ', ensp: ' ', emsp: ' ', minus: '−' }),
]);

const character = (entity: string, digits: string | undefined, hex: string | undefined, name: string): string => {
  if (name) return names.get(name) ?? entity;
  const code = digits === undefined ? Number.parseInt(hex ?? '', 16) : Number(digits);
  return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : '';
};

const unescapeEntities = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]\w{1,8}));/gi, character);

/** Comments, scripts and styles with their content, and tags. Unclosed ones extend to the end of the text. */
const MARKUP = /<!--[\s\S]*?(?:-->|$)|<(script|style)\b[\s\S]*?(?:<\/\1\s*>|$)|<[/!?]?[a-z][^>]*(?:>|$)/gi;
/** Inline tags; every other tag separates words. */
const INLINE = /^<\/?(?:a|abbr|b|big|cite|code|em|font|i|ins|kbd|mark|q|s|small|span|strike|strong|sub|sup|tt|u)\b/i;
/** Invisible characters that could garble a line: controls, direction marks, replacement characters. */
const INVISIBLE =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u200b\u202a-\u202e\u2066-\u2069\ufeff\ufffd]/g;

/** Plain text in one line of at most `longest` characters, from text or HTML; null if nothing is left. */
export const plainText = (markup: string | undefined, longest: number): string | null => {
  if (markup === undefined) return null;
  // Bounds the work; a multiple of `longest`, because stripping shortens the text.
  const bounded = markup.slice(0, longest * 8);
  const stripped = bounded.replace(MARKUP, (tag) => (INLINE.test(tag) ? '' : ' '));
  const text = unescapeEntities(stripped).replace(INVISIBLE, '').replace(/\s+/g, ' ').trim().normalize();
  const characters = [...text];
  if (characters.length <= longest) return text || null;
  const cut = characters.slice(0, longest - 1).join('');
  return `${cut.replace(/\s+\S{0,20}$/, '')}…`;
};

const elements =
  'a b big blockquote body br center cite code dd div dl dt em font h[1-6] head hr html i img ins kbd li link mark meta o:p ' +
  'ol p pre q s script small span strike strong style sub sup table tbody td th thead title tr tt u ul';
/** A `<` that begins no tag of an element. */
const BARE = new RegExp(`<(?!/?(?:${elements.replaceAll(' ', '|')})(?:[\\s/][^<>]*)?>)`, 'gi');

/** As {@link plainText}, of text that is plain by its format (RFC 5545), though some programs write HTML in it. */
export const plainTitle = (text: string, longest: number): string | null =>
  plainText(text.slice(0, longest * 8).replace(BARE, '&lt;'), longest);
