/** The kinds of values that settings have, each with what is allowed in words. */
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import { hasDecodableUser, parseUrl } from '../../contract/url.ts';
import { isThisMachine } from '../../domain/network-scope.ts';
import { wallTimeOf } from '../../domain/wall-time.ts';

export const wholeNumber = (min: number, max: number) => {
  const allowed = `an integer from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,16}$/, allowed)
    .transform(Number)
    .refine((value) => value >= min && value <= max, allowed);
};

export const text = z.string().trim().min(1, 'a non-empty string');
/** `localhost` may resolve to either family; URLs of this service must name the address that it listens on. */
export const listenHost = text.transform((host) => (/^localhost\.?$/i.test(host) ? '127.0.0.1' : host));
export const folder = text.transform((path) => resolve(path));
export const commaList = z.string().transform((list) =>
  list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
);
export const onOff = z.enum(['on', 'off'], 'on or off').transform((value) => value === 'on');

/** The URL, where it has a scheme of these and a host, and neither query nor fragment; null: it has not. */
const bareUrl = (text: string, schemes: RegExp): URL | null => {
  const url = parseUrl(text);
  if (url === null || !schemes.test(url.protocol) || url.hostname === '' || !hasDecodableUser(url)) return null;
  return url.search === '' && url.hash === '' ? url : null;
};
const hasNoPath = (url: URL | null): boolean => url !== null && ['', '/'].includes(url.pathname);

/** Whether paths can be appended to the URL: http or https, without query, fragment and credentials. */
export const isBaseUrl = (text: string): boolean => {
  const url = bareUrl(text, /^https?:$/);
  return url !== null && url.username === '' && url.password === '';
};
const baseUrlRule = 'an http or https URL such as http://192.168.1.20:8080';
export const baseUrl = z
  .string()
  .refine(isBaseUrl, baseUrlRule)
  .transform((url) => url.replace(/\/+$/, ''));

/** An address that webhooks are posted to. */
export const webhookUrl = z.string().refine((text) => {
  const url = /^https?:\/\//i.test(text) ? parseUrl(text) : null;
  return url !== null && hasDecodableUser(url);
}, 'an http or https URL such as https://example.com/hook (a % before its @ is written %25)');

export const webhookSecret = z.string().refine((text) => {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const { length } = Buffer.from(base64, 'base64');
  return length >= 24 && length <= 64;
}, 'whsec_ and base64 of 24 to 64 bytes');

const percentRule = '(a % in user or password is written %25)';

/** Whether NATS connects to the URL; a path is for a proxy of WebSockets. */
export const isFleetUrl = (text: string): boolean => {
  const url = bareUrl(text, /^(nats|tls|wss?):$/);
  return hasNoPath(url) || /^wss?:$/.test(url?.protocol ?? '');
};
export const fleetUrl = z
  .string()
  .trim()
  .refine(isFleetUrl, `a nats, tls, ws or wss URL such as tls://hub.example.com:4222 ${percentRule}`);

export const mqttUrl = z
  .string()
  .trim()
  .refine(
    (url) => hasNoPath(bareUrl(url, /^mqtts?:$/)),
    `an mqtt or mqtts URL such as mqtts://user:password@broker.example.com:8883 ${percentRule}`,
  );

/** The first levels of topics. */
export const mqttPrefix = z
  .string()
  .regex(
    /^[A-Za-z0-9_-]{1,64}(\/[A-Za-z0-9_-]{1,64}){0,4}$/,
    'levels of a topic, of a-z, A-Z, 0-9, _ and -, such as house/signage',
  );

export const hostName = z.string().regex(/^[A-Za-z0-9._:[\]-]{1,253}$/, 'comma-separated host names');

/** `HH:MM-HH:MM`. */
export const hoursPattern = /^([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d$/;

/** A daily window in local time of the site; an end at or before the start is on the next day. */
export const dailyHours = z
  .string()
  .regex(hoursPattern, 'HH:MM-HH:MM such as 22:00-06:00')
  .transform((hours) => ({ open: hours.slice(0, 5), close: hours.slice(6) }));

/** Whether schedules and pages can follow it: Intl also takes names that Temporal refuses, such as `PST`. */
export const isTimeZone = (zone: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    wallTimeOf(0, zone);
    return true;
  } catch {
    return false;
  }
};

const isAddressRange = (range: string): boolean => {
  const [address = '', prefix, ...rest] = range.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
};

const outgoingProxyRule = `an http or https URL without a path such as http://user:password@proxy.example.com:3128 ${percentRule}`;
/** The proxy of outgoing requests; may have a user and a password. */
export const outgoingProxy = z
  .string()
  .trim()
  .refine((url) => hasNoPath(bareUrl(url, /^https?:$/)), outgoingProxyRule);

/** What is reached without it: host names, suffixes of them, addresses and networks. */
export const noProxy = commaList.pipe(
  z.array(
    z
      .string()
      .refine(
        (entry) => isAddressRange(entry) || /^(\*?\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?$/i.test(entry),
        'comma-separated names such as intranet.example.com, suffixes such as .example.com, and networks such as 203.0.113.0/24',
      ),
  ),
);

const trustedProxyRule = 'on, off, or a comma-separated list of addresses such as 10.0.0.1 or 10.0.0.0/8';
export const trustedProxy = z.union(
  [
    z.literal('off').transform(() => false as const),
    z.literal('on').transform(() => true as const),
    commaList.refine((ranges) => ranges.length > 0 && ranges.every(isAddressRange), trustedProxyRule),
  ],
  trustedProxyRule,
);

/** An invalid setting that prevents the start: the message is one line with its name, its value and what is allowed. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
  /** The invalid setting; null for config.json itself. */
  readonly setting: string | null;

  constructor(message: string, setting: string | null = null) {
    super(message);
    this.setting = setting;
  }
}

/** The exit code for a bad configuration: EX_CONFIG of sysexits.h. */
export const EXIT_CONFIG = 78;

/** The issuer of single sign-on: https, or http on this machine, where nobody listens. */
export const oidcIssuer = z
  .string()
  .trim()
  .refine((url) => {
    const { protocol, hostname, username, search, hash } = parseUrl(url) ?? {};
    const isBare = username === '' && search === '' && hash === '';
    return isBare && (protocol === 'https:' || (protocol === 'http:' && isThisMachine(hostname ?? '')));
  }, 'an https URL such as https://login.example.com/realms/house');

/** Claims that people set themselves at many providers: a role by one of them would be anybody's. */
const OWN_CLAIMS =
  'email|name|preferred_username|nickname|given_name|middle_name|family_name|profile|picture|website|gender|birthdate|zoneinfo|locale|phone_number|address';

/** Roles by the values of claims, which have no colon; claims may have some. */
export const oidcRoles = commaList.pipe(
  z.array(
    z
      .string()
      .regex(
        new RegExp(`^(?!(?:${OWN_CLAIMS}):[^:]*$)[\\w.:/-]{1,128}:[^:=]{1,256}=(?:viewer|editor|publisher|admin)$`),
        'a list such as groups:signage-editors=editor,groups:signage-admins=admin, by no claim that people choose themselves, such as email or name',
      ),
  ),
);
