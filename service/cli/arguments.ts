/** Parsers of arguments and options. What they refuse is a usage error, found before anything is sent. */
import { InvalidArgumentError } from 'commander';
import { isDay } from '../contract/day.ts';
import { canonicalDeviceId } from '../contract/readable.ts';
import { parseUrl } from '../contract/url.ts';
import { boxRule, fleetRule, isFleet, isOperator, parseBox } from './settings.ts';

/** A parser for commander: @throws InvalidArgumentError if the value is not `rule` */
const matching =
  (pattern: RegExp, rule: string) =>
  (value: string): string => {
    if (!pattern.test(value)) throw new InvalidArgumentError(`It must be ${rule}.`);
    return value;
  };

export const boxUrl = (value: string): URL => {
  const url = parseBox(value.trim());
  if (url === null) throw new InvalidArgumentError(`It must be ${boxRule}.`);
  return url;
};

export const fleetUrl = (value: string): string => {
  if (!isFleet(value.trim())) throw new InvalidArgumentError(`It must be ${fleetRule}.`);
  return value.trim();
};

/** `HOST:PORT`, where a server listens. */
export const listenAddress = matching(
  /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):([1-9]\d{0,4})$/,
  'an address and a port such as 0.0.0.0:4222',
);

/** The port of a hub for leaf nodes. */
export const leafUrl = (value: string): URL => {
  const url = parseUrl(value.trim());
  if (url === null || !/^(nats|tls):$/.test(url.protocol) || url.hostname === '') {
    throw new InvalidArgumentError('It must be a nats or tls URL such as tls://hub.example.com:7422.');
  }
  return url;
};

export const operatorName = (value: string): string => {
  const name = value.trim();
  if (!isOperator(name)) throw new InvalidArgumentError('It must be 1 to 64 characters.');
  return name;
};

export const slug = matching(/^[a-z0-9-]{1,64}$/, 'the slug of a screen: 1 to 64 of a-z, 0-9 and -');
const plainDeviceId = matching(/^[A-Za-z0-9._:-]{1,128}$/, 'a device id: 1 to 128 of A-Z a-z 0-9 . _ : -');
/** Also in groups, as displays show those that are derived from a key. */
export const deviceId = (value: string): string => plainDeviceId(canonicalDeviceId(value));
/** Of a person. */
export const keyId = matching(/^[0-9a-f]{32}$/, 'the id of a key: 32 of 0-9 and a-f');
export const takeoverId = matching(/^[a-z0-9-]{1,64}$/, '1 to 64 of a-z, 0-9 and -');
export const draftId = matching(/^[a-z0-9-]{1,64}$/, 'the id of a draft: 1 to 64 of a-z, 0-9 and -');
export const messageId = matching(/^[a-z0-9-]{1,56}$/, '1 to 56 of a-z, 0-9 and -');
export const triggerId = matching(/^[0-9a-f]{16}$/, 'the id of a trigger: 16 of 0-9 and a-f');
export const secretName = matching(/^[a-z0-9-]{1,64}$/, '1 to 64 of a-z, 0-9 and -');
export const versionHash = matching(/^[\da-f]{4,64}$/, 'the SHA-256 of a version, or its first characters');
export const siteName = matching(/^[A-Za-z0-9_-]{1,64}$/, 'the name of a site: 1 to 64 of a-z, A-Z, 0-9, _ and -');
/** Of an argument that takes several. */
export const siteNames = (value: string, before: readonly string[] = []): string[] => [...before, siteName(value)];
export const text = matching(/\S/, 'a non-empty string');
/** A non-empty text of at most `most` UTF-16 code units. */
export const textWithin =
  (most: number) =>
  (value: string): string => {
    if (value.length > most) throw new InvalidArgumentError(`It must be ${most} characters at most.`);
    return text(value);
  };

export const playerName = (value: string): string => {
  const name = value.trim();
  if (name.length < 1 || name.length > 64) throw new InvalidArgumentError('It must be 1 to 64 characters.');
  return name;
};

/** By the clock of this machine. */
const today = (): string => {
  const now = new Date();
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
};

/** A moment as the box reads it: without an offset, wall-clock time of the site; a time alone is today's. */
export const siteTime = (value: string): string => {
  const time = /^([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d)?$/;
  if (time.test(value)) {
    return `${today()}T${value.replace(/^\d:/, '0$&')}`;
  }
  const full = /^(\d{4}-\d\d-\d\d)([T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/.exec(
    value,
  );
  if (full === null || !isDay(full[1] ?? '')) {
    throw new InvalidArgumentError('It must be a time such as 11:40, 2026-11-24T11:40 or 2026-11-24T11:40:00Z.');
  }
  return value.replace(' ', 'T');
};

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** `30m`, `90s`, `1h30m`, `2d`: @returns seconds */
export const duration = (value: string): number => {
  const parts = value.match(/\d+[smhd]/g) ?? [];
  const seconds = parts.reduce((sum, part) => sum + Number.parseInt(part, 10) * (unitSeconds[part.slice(-1)] ?? 0), 0);
  if (seconds === 0 || parts.join('') !== value) {
    throw new InvalidArgumentError('It must be a time such as 90s, 30m, 2h or 1d.');
  }
  return seconds;
};

const dateOrInstant =
  /^\d{4}-\d\d-\d\d(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d))?$/;

/** A date (midnight in the zone of the site) or an instant, as the box reads it. */
export const moment = (value: string): string => {
  if (!dateOrInstant.test(value) || !isDay(value.slice(0, 10))) {
    throw new InvalidArgumentError('It must be a date such as 2026-11-22, or a time such as 2026-11-22T08:00:00Z.');
  }
  return value;
};

/** A moment of the day or of a date, by the clock of this machine where no offset is given: `18:00`, `2026-11-22T18:00`. */
export const startTime = (value: string): Date => {
  const [, day, time = '00:00', offset = ''] =
    /^(\d{4}-\d\d-\d\d)?(?:^|[T ]|$)(?:((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?)(Z|[+-]\d\d:\d\d)?)?$/.exec(value) ?? [];
  if (value === '' || (day === undefined && time === '00:00' && value !== '00:00') || !isDay(day ?? today())) {
    throw new InvalidArgumentError('It must be a time such as 18:00, 2026-11-22T18:00 or 2026-11-22T18:00:00Z.');
  }
  return new Date(`${day ?? today()}T${time}${offset}`);
};
