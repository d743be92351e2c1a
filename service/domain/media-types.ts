/** What goes out under no type of its own: bytes to keep, never to show or run. */
export const OPAQUE = 'application/octet-stream';

/** Everything built on ISO/IEC 14496-12, of old files without a file type box too; HEIF and AVIF are told apart. */
const movie = /^[^]{4}(?:ftyp(?!avi[fs]|hei[cx]|mif1|msf1)|moov|mdat|wide|free|skip)/;
const matroska = /^\x1a\x45\xdf\xa3/;
const ogg = /^OggS/;
const mpegAudio = /^(?:ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb])/;
const tiff = /^(?:II\*\0|MM\0\*)/;

const utf8Mark = '(?:\\xef\\xbb\\xbf)?';

/**
 * SVG is text: a mark, declarations and comments may come before its root. Every part ends at its first end mark, so
 * that no input makes the expression try a second way.
 */
const svg = new RegExp(
  `^${utf8Mark}\\s*(?:(?:<\\?(?:(?!\\?>)[^])*\\?>|<!--(?:(?!-->)[^])*-->|` +
    '<!DOCTYPE\\s+svg\\b[^[>]*(?:\\[[^\\]]*\\]\\s*)?>)\\s*)*<svg[\\s>/]',
);
const webVtt = new RegExp(`^${utf8Mark}WEBVTT(?:[ \\t\\r\\n]|$)`);
const subRip = new RegExp(`^${utf8Mark}\\s*\\d+[ \\t]*\\r?\\n\\d+:\\d\\d:\\d\\d[,.]\\d+[ \\t]*-->`);

/** A signature that nothing has. A manifest names further media, so an uploaded one is never ours to vouch for. */
const never = /(?!)/;

/** The media that the product knows: extension, media type (RFC 6838) and what the first bytes, as Latin-1, must be. */
const media: ReadonlyMap<string, readonly [type: string, signature: RegExp]> = new Map([
  ['png', ['image/png', /^\x89PNG\r\n\x1a\n/]],
  ['apng', ['image/apng', /^\x89PNG\r\n\x1a\n/]],
  ['jpg', ['image/jpeg', /^\xff\xd8\xff/]],
  ['jpeg', ['image/jpeg', /^\xff\xd8\xff/]],
  ['jfif', ['image/jpeg', /^\xff\xd8\xff/]],
  ['gif', ['image/gif', /^GIF8[79]a/]],
  ['webp', ['image/webp', /^RIFF[^]{4}WEBP/]],
  ['avif', ['image/avif', /^[^]{4}ftyp(?:avi[fs]|mif1|msf1)/]],
  ['heic', ['image/heic', /^[^]{4}ftyp(?:hei[cx]|mif1|msf1)/]],
  ['bmp', ['image/bmp', /^BM/]],
  ['ico', ['image/x-icon', /^\0\0\x01\0/]],
  ['tif', ['image/tiff', tiff]],
  ['tiff', ['image/tiff', tiff]],
  ['svg', ['image/svg+xml', svg]],
  ['mp4', ['video/mp4', movie]],
  ['m4v', ['video/mp4', movie]],
  ['mov', ['video/quicktime', movie]],
  ['3gp', ['video/3gpp', movie]],
  ['webm', ['video/webm', matroska]],
  ['mkv', ['video/matroska', matroska]],
  ['ogv', ['video/ogg', ogg]],
  ['ts', ['video/mp2t', /^G[^]{187}G/]],
  ['mpg', ['video/mpeg', /^\0\0\x01[\xb3\xba]/]],
  ['mpeg', ['video/mpeg', /^\0\0\x01[\xb3\xba]/]],
  ['avi', ['video/vnd.avi', /^RIFF[^]{4}AVI /]],
  ['mp3', ['audio/mpeg', mpegAudio]],
  ['m4a', ['audio/mp4', movie]],
  ['aac', ['audio/aac', /^(?:ID3|ADIF|\xff[\xf0\xf1\xf8\xf9])/]],
  ['ogg', ['audio/ogg', ogg]],
  ['oga', ['audio/ogg', ogg]],
  ['opus', ['audio/ogg', ogg]],
  ['weba', ['audio/webm', matroska]],
  ['wav', ['audio/wav', /^RIFF[^]{4}WAVE/]],
  ['flac', ['audio/flac', /^fLaC/]],
  ['woff', ['font/woff', /^wOFF/]],
  ['woff2', ['font/woff2', /^wOF2/]],
  ['ttf', ['font/ttf', /^(?:\0\x01\0\0|true)/]],
  ['otf', ['font/otf', /^(?:OTTO|\0\x01\0\0)/]],
  ['ttc', ['font/collection', /^ttcf/]],
  ['vtt', ['text/vtt', webVtt]],
  ['srt', ['application/x-subrip', subRip]],
  ['pdf', ['application/pdf', /^%PDF-/]],
  ['m3u8', ['application/vnd.apple.mpegurl', never]],
]);

/** How many bytes of a file {@link judgeType} needs to see. */
export const SIGNATURE_BYTES = 4096;

/** The path that a URL names, percent-decoded; what is no URL is a name and stays as it is. */
const pathOf = (nameOrUrl: string): string => {
  if (!/^(?:\/|[a-z][a-z0-9+.-]*:\/\/)/i.test(nameOrUrl)) return nameOrUrl;
  try {
    return decodeURIComponent(new URL(nameOrUrl, 'http://player').pathname);
  } catch {
    return '';
  }
};

const rowOf = (path: string) => media.get(/[^/]\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '');

/**
 * The media type that a file name, a path on this service or a URL promises by its extension; null where the product
 * knows none.
 */
export const mediaTypeOf = (nameOrUrl: string): string | null => rowOf(pathOf(nameOrUrl))?.[0] ?? null;

/**
 * The media type that a file goes out under: its own where its name and its first bytes agree, else {@link OPAQUE}.
 * The signatures stand here and not in a detection library, because only one is ever asked, that of the name: nothing
 * parses an upload in order to serve it.
 */
export const judgeType = (name: string, head: Buffer): string => {
  const [type, signature] = rowOf(name) ?? [OPAQUE, never];
  return signature.test(head.toString('latin1', 0, SIGNATURE_BYTES)) ? type : OPAQUE;
};

/** What is shown from copies: everything else, once it is away from its server, is only bytes. */
const showable = [...media.values()].filter(([type]) => /^(?:image|video)\/|\/pdf$/.test(type));

/**
 * The media type of a picture, video or PDF under no name of ours: the first claimed one that its first bytes agree
 * with, else the one that they are the signature of, as browsers look at pictures; null: it is neither.
 */
export const judgeCopy = (claims: readonly (string | null)[], head: Buffer): string | null => {
  const text = head.toString('latin1', 0, SIGNATURE_BYTES);
  const types = showable.filter(([, signature]) => signature.test(text)).map(([type]) => type);
  return claims.find((claim): claim is string => claim !== null && types.includes(claim)) ?? types[0] ?? null;
};
