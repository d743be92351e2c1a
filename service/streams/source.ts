import { createHash } from 'node:crypto';
import { CodedError } from '../contract/errors.ts';
import { type StreamScheme, streamSchemes } from '../contract/stream-schemes.ts';
import { parseUrl } from '../contract/url.ts';

const defaultPorts: Record<StreamScheme, string | null> = {
  rtmp: '1935',
  rtmps: '443',
  rtsp: '554',
  rtsps: '322',
  srt: null,
};

/** The address of a stream, and whether to drop its audio. */
export interface StreamSource {
  scheme: StreamScheme;
  /** The canonical URL with credentials: only for ffmpeg, never for logs or responses. */
  url: string;
  /** The canonical URL without user and password, as playlists hold it. */
  publicUrl: string;
  /** Scheme, host and port, for logs and responses. A path or a query may contain credentials. */
  display: string;
  disableAudio: boolean;
  /** Identifies the stream and the audio choice: 16 hex digits, from which no password can be guessed. */
  key: string;
}

const refuse = (message: string) => new CodedError('invalid_field', message, { field: 'source' });

const isScheme = (text: string | undefined): text is StreamScheme => streamSchemes.includes(text as StreamScheme);

/**
 * Validates a stream's URL and converts it to canonical form. Path and query of rtmp and srt stay as they are written:
 * ffmpeg sends them as they are, and servers compare names byte by byte. The parser would encode letters beyond ASCII, and
 * drop all from `#` on, with which a stream id of SRT Access Control begins. A request of rtsp carries a URL, so its path
 * and query are those of the parser.
 * White space and control characters are refused before parsing, which would silently drop some of them. The WHATWG URL
 * parser canonicalizes hosts only for schemes that it knows, so the URL is also parsed with the scheme http.
 * @param salt random bytes of this box, which become part of the keys of URLs with credentials
 * @throws CodedError `invalid_field`, without the URL in its message
 */
export const parseSource = (raw: string, disableAudio: boolean, salt: Uint8Array): StreamSource => {
  if (raw.length > 2048) throw refuse('The source is longer than 2048 characters.');
  if (/[\s\\\p{Cc}\p{Cs}]/u.test(raw)) {
    throw refuse('The source has white space, a backslash or a control character in it.');
  }
  const [, name, rest = '', path = '', query = ''] = /^([a-z]+)(:\/\/[^/?#]+([^?]*)(.*))$/i.exec(raw) ?? [];
  const scheme = name?.toLowerCase();
  if (!isScheme(scheme)) throw refuse(`The source must be a URL of one of these schemes: ${streamSchemes.join(', ')}.`);
  const source = parseUrl(raw);
  // Only of http(s) a parser reads the host as one.
  const asHttp = parseUrl(`http${rest}`);
  if (source === null || asHttp === null) throw refuse('The source is not a valid URL.');

  const { username, password, port, pathname, search } = source;
  const { hostname } = asHttp;
  if (scheme === 'srt' && !port) throw refuse('An srt source needs a port.');
  if (scheme === 'srt' && new URLSearchParams(query).getAll('mode').some((mode) => mode !== 'caller')) {
    throw refuse('An srt source takes no other mode than caller.');
  }
  const user = username + (password && `:${password}`);
  const host = hostname + (port && port !== defaultPorts[scheme] ? `:${port}` : '');
  const place = host + (scheme.startsWith('rtsp') ? pathname + search : path + query);
  const url = `${scheme}://${user && `${user}@`}${place}`;
  const identity = `${url}\n${disableAudio ? 'silent' : 'sound'}`;
  const hash = createHash('sha256').update(user ? salt : '');
  const key = hash.update(identity).digest('hex').slice(0, 16);
  return { scheme, url, publicUrl: `${scheme}://${place}`, display: `${scheme}://${host}`, disableAudio, key };
};

/** The canonical address of a stream without user and password; null: it is none. */
export const publicUrlOf = (address: string): string | null => {
  try {
    return parseSource(address, false, new Uint8Array()).publicUrl;
  } catch {
    return null;
  }
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** The text without the source's URL, and without any part of the URL beyond the host that could be a credential. */
export const redact = (text: string, { url, display }: StreamSource): string => {
  const parts = url
    .slice(url.indexOf('//') + 2)
    .replace(display.slice(display.indexOf('//') + 2), '')
    .split(/[/?&=@:]/);
  const secrets = [...parts, ...parts.map(decoded)].filter((part) => part.length > 2);
  return secrets
    .sort((one, other) => other.length - one.length)
    .reduce((clean, secret) => clean.replaceAll(secret, '***'), text.replaceAll(url, display));
};
