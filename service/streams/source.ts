import { createHash } from 'node:crypto';
import { CodedError } from '../contract/errors.ts';

const schemes = ['rtmp', 'rtmps', 'rtsp', 'rtsps', 'srt'] as const;
export type Scheme = (typeof schemes)[number];

const defaultPorts: Record<Scheme, string | null> = {
  rtmp: '1935',
  rtmps: '443',
  rtsp: '554',
  rtsps: '322',
  srt: null,
};

/** A stream somewhere, and whether its sound is wanted. */
export interface Source {
  scheme: Scheme;
  /** The canonical URL, credentials included: for ffmpeg alone, never for a log or an answer. */
  url: string;
  /** Scheme, host and port: what may be shown. A path or a query can be a credential too. */
  display: string;
  disableAudio: boolean;
  /** The same for the same stream and audio choice: 16 hex digits. */
  key: string;
}

const refuse = (message: string) => new CodedError('invalid_field', message, { field: 'source' });

const isScheme = (text: string | undefined): text is Scheme => schemes.includes(text as Scheme);

/**
 * Judges a stream's URL and brings it into the one form that ffmpeg is given.
 * White space and control characters are refused before parsing, which would drop some of them without a word. Hosts
 * are canonical only where the scheme is known to the parser, so the rest is parsed as http too (WHATWG URL).
 * @throws CodedError `invalid_field`, without the URL in its message
 */
export const parseSource = (raw: string, disableAudio: boolean): Source => {
  if (raw.length > 2048) throw refuse('The source is longer than 2048 characters.');
  if (/[\s\u0000-\u001f\u007f-\u009f\\]/.test(raw)) {
    throw refuse('The source has white space, a backslash or a control character in it.');
  }
  const [, name, rest = ''] = /^([a-z]+)(:\/\/[^/].*)$/i.exec(raw) ?? [];
  const scheme = name?.toLowerCase();
  if (!isScheme(scheme)) throw refuse(`The source must be a URL of one of these schemes: ${schemes.join(', ')}.`);
  if (!URL.canParse(raw) || !URL.canParse(`http${rest}`)) throw refuse('The source is not a valid URL.');

  const { username, password, port, pathname, search, searchParams } = new URL(raw);
  const { hostname } = new URL(`http${rest}`);
  if (scheme === 'srt' && !port) throw refuse('An srt source needs a port.');
  if (scheme === 'srt' && searchParams.getAll('mode').some((mode) => mode !== 'caller')) {
    throw refuse('An srt source takes no other mode than caller.');
  }
  const user = username + (password && `:${password}`);
  const host = hostname + (port && port !== defaultPorts[scheme] ? `:${port}` : '');
  const url = `${scheme}://${user && `${user}@`}${host}${pathname}${search}`;
  const identity = `${url}\n${disableAudio ? 'silent' : 'sound'}`;
  const key = createHash('sha256').update(identity).digest('hex').slice(0, 16);
  return { scheme, url, display: `${scheme}://${host}`, disableAudio, key };
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** The text without the source's URL and without anything in it, beyond the host, that could be a credential. */
export const redact = (text: string, { url, display }: Source): string => {
  const parts = url
    .slice(url.indexOf('//') + 2)
    .replace(display.slice(display.indexOf('//') + 2), '')
    .split(/[/?&=@:]/);
  const secrets = [...parts, ...parts.map(decoded)].filter((part) => part.length > 2);
  return secrets
    .sort((one, other) => other.length - one.length)
    .reduce((clean, secret) => clean.replaceAll(secret, '***'), text.replaceAll(url, display));
};
