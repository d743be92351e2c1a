/** Media type of files that browsers must save, and never show or run. */
export const OPAQUE = 'application/octet-stream';

/** ISO base media files (ISO/IEC 14496-12), also old ones without a file type box; not HEIF and AVIF. */
const movie = /^[^]{4}(?:ftyp(?!avi[fs]|he[iv][cmsx]|mif1|msf1)|moov|mdat|wide|free|skip)/;
/** HEIF (ISO/IEC 23008-12), of which HEIC is the kind with HEVC inside. */
const heif = /^[^]{4}ftyp(?:he[iv][cmsx]|mif1|msf1)/;
/** A boxed file, or the codestream alone (ISO/IEC 15444-1). */
const jpeg2000 = /^(?:\0\0\0\x0cjP {2}\r\n\x87\n|\xff\x4f\xff\x51)/;
/** Packets of 188 bytes, or of 192 with a time in front, as cameras write them. */
const transportStream = /^(?:G[^]{187}G|[^]{4}G[^]{191}G)/;
const matroska = /^\x1a\x45\xdf\xa3/;
const ogg = /^OggS/;
const mpegAudio = /^(?:ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb])/;
const tiff = /^(?:II\*\0|MM\0\*)/;
/** What cameras write: mostly TIFF, or nearly so. */
const raw = /^(?:II\*\0|MM\0\*|IIRO|IIRS|MMOR|IIU\0|FUJIFILMCCD-RAW )/;

/** Office Open XML (ISO/IEC 29500-2) is a zip archive, OpenDocument (ODF 1.3, part 2) one that begins with its type. */
const zip = /^PK\x03\x04/;
const openDocument = /^PK\x03\x04[^]{26}mimetypeapplication\/vnd\.oasis\.opendocument\./;
/** Compound File Binary: PowerPoint and Word before 2007. */
const compound = /^\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1/;
const ooxml = 'application/vnd.openxmlformats-officedocument';
const odf = 'application/vnd.oasis.opendocument';

const utf8Mark = '(?:\\xef\\xbb\\xbf)?';

/**
 * SVG is text: a byte order mark, declarations and comments may precede the root. Each part ends at its first end mark,
 * so that the expression never backtracks.
 */
const svg = new RegExp(
  `^${utf8Mark}\\s*(?:(?:<\\?(?:(?!\\?>)[^])*\\?>|<!--(?:(?!-->)[^])*-->|` +
    '<!DOCTYPE\\s+svg\\b[^[>]*(?:\\[[^\\]]*\\]\\s*)?>)\\s*)*<svg[\\s>/]',
);
const webVtt = new RegExp(`^${utf8Mark}WEBVTT(?:[ \\t\\r\\n]|$)`);
const subRip = new RegExp(`^${utf8Mark}\\s*\\d+[ \\t]*\\r?\\n\\d+:\\d\\d:\\d\\d[,.]\\d+[ \\t]*-->`);

/** Matches nothing. An uploaded manifest refers to other media, so the service never serves it as a manifest. */
const never = /(?!)/;

/** The supported media: extension, media type (RFC 6838) and what the first bytes, as Latin-1, must be. */
const media: ReadonlyMap<string, readonly [type: string, signature: RegExp]> = new Map([
  ['png', ['image/png', /^\x89PNG\r\n\x1a\n/]],
  ['apng', ['image/apng', /^\x89PNG\r\n\x1a\n/]],
  ['jpg', ['image/jpeg', /^\xff\xd8\xff/]],
  ['jpeg', ['image/jpeg', /^\xff\xd8\xff/]],
  ['jfif', ['image/jpeg', /^\xff\xd8\xff/]],
  ['gif', ['image/gif', /^GIF8[79]a/]],
  ['webp', ['image/webp', /^RIFF[^]{4}WEBP/]],
  ['avif', ['image/avif', /^[^]{4}ftyp(?:avi[fs]|mif1|msf1)/]],
  ['heic', ['image/heic', heif]],
  ['heif', ['image/heif', heif]],
  ['hif', ['image/heif', heif]],
  ['jp2', ['image/jp2', jpeg2000]],
  ['j2k', ['image/jp2', jpeg2000]],
  ['psd', ['image/vnd.adobe.photoshop', /^8BPS/]],
  ['bmp', ['image/bmp', /^BM/]],
  ['ico', ['image/x-icon', /^\0\0\x01\0/]],
  ['tif', ['image/tiff', tiff]],
  ['tiff', ['image/tiff', tiff]],
  ['dng', ['image/x-adobe-dng', raw]],
  ['cr2', ['image/x-canon-cr2', raw]],
  ['raf', ['image/x-fuji-raf', raw]],
  ['nef', ['image/x-nikon-nef', raw]],
  ['orf', ['image/x-olympus-orf', raw]],
  ['rw2', ['image/x-panasonic-rw2', raw]],
  ['pef', ['image/x-pentax-pef', raw]],
  ['srw', ['image/x-samsung-srw', raw]],
  ['arw', ['image/x-sony-arw', raw]],
  ['svg', ['image/svg+xml', svg]],
  ['mp4', ['video/mp4', movie]],
  ['m4v', ['video/mp4', movie]],
  ['mov', ['video/quicktime', movie]],
  ['3gp', ['video/3gpp', movie]],
  ['webm', ['video/webm', matroska]],
  ['mkv', ['video/matroska', matroska]],
  ['ogv', ['video/ogg', ogg]],
  ['ts', ['video/mp2t', transportStream]],
  ['mts', ['video/mp2t', transportStream]],
  ['m2ts', ['video/mp2t', transportStream]],
  ['mpg', ['video/mpeg', /^\0\0\x01[\xb3\xba]/]],
  ['mpeg', ['video/mpeg', /^\0\0\x01[\xb3\xba]/]],
  ['avi', ['video/vnd.avi', /^RIFF[^]{4}AVI /]],
  ['flv', ['video/x-flv', /^FLV\x01/]],
  ['wmv', ['video/x-ms-wmv', /^\x30\x26\xb2\x75\x8e\x66\xcf\x11/]],
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
  ['ics', ['text/calendar', /^(?:\xef\xbb\xbf)?BEGIN:VCALENDAR/i]],
  ['srt', ['application/x-subrip', subRip]],
  ['pdf', ['application/pdf', /^%PDF-/]],
  ['pptx', [`${ooxml}.presentationml.presentation`, zip]],
  ['ppsx', [`${ooxml}.presentationml.slideshow`, zip]],
  ['docx', [`${ooxml}.wordprocessingml.document`, zip]],
  ['ppt', ['application/vnd.ms-powerpoint', compound]],
  ['pps', ['application/vnd.ms-powerpoint', compound]],
  ['doc', ['application/msword', compound]],
  ['odp', [`${odf}.presentation`, openDocument]],
  ['odt', [`${odf}.text`, openDocument]],
  ['ods', [`${odf}.spreadsheet`, openDocument]],
  ['odg', [`${odf}.graphics`, openDocument]],
  ['m3u8', ['application/vnd.apple.mpegurl', never]],
]);

/** Number of leading bytes that {@link judgeType} needs. */
export const SIGNATURE_BYTES = 4096;

/** The percent-decoded path of a URL; a file name is returned unchanged. */
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
 * The media type for the extension of a file name, a path on this service or a URL; null: unknown extension.
 */
export const mediaTypeOf = (nameOrUrl: string): string | null => rowOf(pathOf(nameOrUrl))?.[0] ?? null;

/** Beginnings of the types of documents that displays show as PDF. */
const office: readonly string[] = [ooxml, odf, 'application/vnd.ms-powerpoint', 'application/msword'];
export const isOffice = (mediaType: string): boolean => office.some((type) => mediaType.startsWith(type));

/** Whether files of a type go out as files to save: no browser shows them. */
export const isSaved = (mediaType: string): boolean => isOffice(mediaType) || mediaType === 'text/calendar';

/** Beginnings of the types of media that each kind of slide shows. */
export const shownBy = {
  image: ['image/'],
  video: ['video/'],
  pdf: ['application/pdf', ...office],
} as const;

const kindShowing = (mediaType: string): keyof typeof shownBy | undefined =>
  (Object.keys(shownBy) as (keyof typeof shownBy)[]).find((kind) =>
    shownBy[kind].some((type) => mediaType.startsWith(type)),
  );

export const isShown = (mediaType: string): boolean => kindShowing(mediaType) !== undefined;

/** Whether files of a type are raw pictures of a camera, of which the preview is shown. */
export const isRaw = (mediaType: string): boolean => /^image\/x-[a-z]+-[a-z0-9]+$/.test(mediaType);

/** The kind of slide that shows media of a type; those of unknown types are taken for pictures. */
export const kindOfType = (mediaType: string): keyof typeof shownBy => kindShowing(mediaType) ?? 'image';

/** The kind of slide that shows a medium; null: neither a picture nor a film. An unknown type is taken for a picture. */
export const pictureKindOf = (nameOrUrl: string): 'image' | 'video' | null => {
  const type = mediaTypeOf(nameOrUrl) ?? 'image/*';
  return type.startsWith('video/') ? 'video' : type.startsWith('image/') ? 'image' : null;
};

/**
 * The media type to serve a file under: that of its extension if the first bytes match, else {@link OPAQUE}. There is no
 * detection library, because only the signature of the extension is tested: serving an upload must not parse it.
 */
export const judgeType = (name: string, head: Buffer): string => {
  const [type, signature] = rowOf(name) ?? [OPAQUE, never];
  return signature.test(head.toString('latin1', 0, SIGNATURE_BYTES)) ? type : OPAQUE;
};

/**
 * ffmpeg's demuxer for each media type: it must not probe the format, because a file could be a playlist that names other
 * files and addresses.
 */
const demuxers: Readonly<Record<string, string>> = {
  'image/png': 'png_pipe',
  'image/apng': 'apng',
  'image/jpeg': 'jpeg_pipe',
  'image/gif': 'gif',
  'image/webp': 'webp_pipe',
  'image/bmp': 'bmp_pipe',
  'image/x-icon': 'ico',
  'image/tiff': 'tiff_pipe',
  'image/avif': 'mov',
  'image/heic': 'mov',
  'image/heif': 'mov',
  'image/jp2': 'j2k_pipe',
  'image/vnd.adobe.photoshop': 'psd_pipe',
  'video/mp4': 'mov',
  'video/quicktime': 'mov',
  'video/3gpp': 'mov',
  'video/webm': 'matroska',
  'video/matroska': 'matroska',
  'video/ogg': 'ogg',
  'video/mp2t': 'mpegts',
  'video/mpeg': 'mpeg',
  'video/vnd.avi': 'avi',
  'video/x-flv': 'flv',
  'video/x-ms-wmv': 'asf',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'mov',
  'audio/aac': 'aac',
  'audio/ogg': 'ogg',
  'audio/webm': 'matroska',
  'audio/wav': 'wav',
  'audio/flac': 'flac',
};

/** ffmpeg's demuxer for files of a media type; undefined: it does not read them. */
export const demuxerOf = (mediaType: string): string | undefined => demuxers[mediaType];

/** The name of the format of a picture or document, such as `jpeg`; null: neither. */
export const formatOf = (mediaType: string): string | null => {
  if (isOffice(mediaType)) return [...media].find(([, [type]]) => type === mediaType)?.[0] ?? null;
  const [, name] =
    /^(?:image\/|application\/(?=pdf$))(?:x-(?:[a-z]+-)?|vnd\.adobe\.)?([a-z0-9]+)/.exec(mediaType) ?? [];
  return (name === 'photoshop' ? 'psd' : name === 'icon' ? 'ico' : name) ?? null;
};

/** The types that are shown from local copies; copies of other types are not served as media. */
const showable = [...media.values()].filter(([type]) => isShown(type));

/**
 * The media type of a copied picture, video or PDF: the first of `claims` that the first bytes match, else the type that
 * the bytes are a signature of, as browsers sniff pictures; null: neither.
 */
export const judgeCopy = (claims: readonly (string | null)[], head: Buffer): string | null => {
  const text = head.toString('latin1', 0, SIGNATURE_BYTES);
  const types = showable.filter(([, signature]) => signature.test(text)).map(([type]) => type);
  const claimed = claims.find((claim): claim is string => claim !== null && types.includes(claim));
  // Many other files are zip archives.
  return claimed ?? types.find((type) => !isOffice(type)) ?? null;
};
