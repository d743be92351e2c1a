/** The table of settings: names, allowed values, defaults. */
import { resolve } from 'node:path';
import { z } from 'zod';
import { variants } from '../../contract/terms.ts';
import {
  baseUrl,
  commaList,
  dailyHours,
  fleetUrl,
  folder,
  hostName,
  isTimeZone,
  listenHost,
  mqttPrefix,
  mqttUrl,
  noProxy,
  OptionsError,
  oidcIssuer,
  oidcRoles,
  onOff,
  outgoingProxy,
  text,
  trustedProxy,
  webhookSecret,
  webhookUrl,
  wholeNumber,
} from './values.ts';

const GIB = 1024 ** 3;

/**
 * The settings, by the names that the code uses. The environment has each as `SIGNAGE_` and the name in
 * capitals (`maxStreams`: `SIGNAGE_MAX_STREAMS`); `config.json` takes either spelling.
 */
export const settings = {
  host: listenHost.default('0.0.0.0'),
  /** TCP port; 0 takes any free one. */
  port: wholeNumber(0, 65_535).default(8080),
  /** Whether the service answers over TLS, too; never in the baseline variant. */
  https: onOff,
  /** TCP port for that; 0 takes any free one. */
  httpsPort: wholeNumber(0, 65_535).default(8443),
  /** Path of the certificate for it, PEM, with those that sign it; with {@link tlsKey}. */
  tlsCert: folder.optional(),
  /** Path of its private key, PEM, not encrypted. */
  tlsKey: folder.optional(),
  dataDir: folder,
  /** Where uploads are written. Default: `{dataDir}/uploads`. */
  uploadDir: folder.optional(),
  /** Where copies of remote media are kept. Default: `{dataDir}/media`. */
  mediaDir: folder.optional(),
  variant: z.enum(variants, 'extended or baseline').default('extended'),
  sharedSecret: z.string().optional(),
  /** The previous secret during a rotation: verifies signatures, but never signs. */
  sharedSecretPrevious: z.string().optional(),
  /** Whether the secret is only for boxes, once an admin has joined with a key of their own. */
  requirePeople: onOff,
  /** The OpenID provider that people sign in with; without it there is no single sign-on. */
  oidcIssuer: oidcIssuer.optional(),
  /** The id of this site at the provider. */
  oidcClientId: text.default('signage'),
  /** Its secret there; absent: it is a public client. */
  oidcClientSecret: z.string().optional(),
  /** Which values of which claims give which role, as `claim:value=role`; who has none of them is refused. */
  oidcRoles: oidcRoles.default([]),
  /** Host names that the service answers to, beyond addresses and local names. */
  allowedHosts: commaList.pipe(z.array(hostName)).default([]),
  /** The address that phones and peers reach the service by. */
  publicUrl: baseUrl.optional(),
  /** Base URLs of static peers, for boxes that discovery does not find. */
  peers: commaList.pipe(z.array(baseUrl)).default([]),
  /** Whether peers are discovered by DNS-SD. */
  discovery: onOff,
  /** Only boxes of one site are peers. */
  site: text.default('default'),
  /** Largest upload, and largest copy of a remote medium, bytes. */
  maxUploadBytes: wholeNumber(1, Number.MAX_SAFE_INTEGER).default(2 * GIB),
  /** Limit in bytes of uploads, copies of remote media and peers' media together. Uploads evict copies. */
  mediaQuotaBytes: wholeNumber(0, Number.MAX_SAFE_INTEGER).default(64 * GIB),
  /** Media are fetched from other hosts and boxes at this rate at most, in total, bytes per second; 0: unlimited. */
  fetchBytesPerSecond: wholeNumber(0, Number.MAX_SAFE_INTEGER).default(0),
  /** When media are fetched from other hosts and boxes, by the site's clock; absent: always. */
  fetchHours: dailyHours.optional(),
  /** Whether this box converts media that browsers do not show. */
  convert: onOff,
  /** When it does, by the site's clock; absent: always. */
  convertHours: dailyHours.optional(),
  /** Whether the console and its API are offered; never in the baseline variant. */
  console: onOff,
  ffmpegPath: text.optional(),
  /** Limit of concurrent stream sessions. */
  maxStreams: wholeNumber(0, 1000).default(8),
  /** Idle time after which a stream without requests ends, seconds. */
  streamIdleSeconds: wholeNumber(1, 86_400).default(30),
  /** Lifetime of a page token, seconds. */
  pageTokenSeconds: wholeNumber(1, 86_400).default(900),
  /** Proxies whose X-Forwarded-For is trusted: none, all, or these addresses. */
  trustProxy: trustedProxy.default(false),
  /** The proxy of requests to other hosts: http or https, with user and password if it wants them. */
  proxy: outgoingProxy.optional(),
  /** Hosts that are reached without it, beyond those of local networks. */
  noProxy: noProxy.default([]),
  /** Path of a PEM file with further certificate authorities for outgoing connections. */
  caFile: text.transform((path) => resolve(path)).optional(),
  /** Where plays are delivered, as webhooks (Standard Webhooks). */
  playsUrl: webhookUrl.optional(),
  /** Where alerts are delivered, as webhooks. */
  alertUrl: webhookUrl.optional(),
  /** Grace period before an alert, seconds. */
  alertGraceSeconds: wholeNumber(0, 86_400).default(300),
  /** The key of webhooks. Default: derived from the shared secret. */
  webhookSecret: webhookSecret.optional(),
  /** IANA name of the zone that schedules are in. */
  timeZone: z.string().refine(isTimeZone, 'an IANA time zone such as Europe/Vienna').optional(),
  /** The NATS server of the fleet; without it the site is alone. */
  fleetUrl: fleetUrl.optional(),
  /** Path of the `.creds` file for it. */
  fleetCredentials: text.transform((path) => resolve(path)).optional(),
  /** The MQTT broker that the site is published to. */
  mqttUrl: mqttUrl.optional(),
  /** Beginning of the topics. */
  mqttPrefix: mqttPrefix.default('signage'),
  /** Whether displays take orders over MQTT. */
  mqttControl: z
    .enum(['on', 'off'], 'on or off')
    .transform((value) => value === 'on')
    .default(false),
  logLevel: z
    .enum(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'fatal, error, warn, info, debug, trace or silent',
    )
    .default('info'),
};

export type SettingName = keyof typeof settings;
export const settingNames = Object.keys(settings) as SettingName[];
export const secretNames: readonly SettingName[] = [
  'sharedSecret',
  'sharedSecretPrevious',
  'webhookSecret',
  'oidcClientSecret',
];

/** Settings that name a program, folder or file: their values decide what the player executes, reads and writes. */
export const pathNames: readonly SettingName[] = [
  'tlsCert',
  'tlsKey',
  'uploadDir',
  'mediaDir',
  'caFile',
  'ffmpegPath',
  'fleetCredentials',
];

export const environmentName = (name: SettingName): string =>
  `SIGNAGE_${name.replace(/[A-Z]/g, (c) => `_${c}`).toUpperCase()}`;

export type Given = z.infer<z.ZodObject<typeof settings>>;

/** Addresses that may hold credentials, and are not shown if they do. */
const credentialNames: readonly SettingName[] = ['fleetUrl', 'proxy', 'mqttUrl'];
const addressNames: readonly SettingName[] = ['publicUrl', 'peers', 'playsUrl', 'alertUrl', 'oidcIssuer'];

/** A value without the passwords, and whose they are, in its addresses, which may be a list: they go to the last @ of each. */
const withoutUsers = (_: string, value: unknown): unknown =>
  typeof value === 'string'
    ? value
        .split(/,(?=\s*[a-z][a-z\d+.-]*:[\\/])/i)
        .map((item) => item.replace(/([a-z][a-z\d+.-]*:[\\/]+)(?=[^@]*:).*@/is, '$1…@'))
        .join(',')
    : value;

/** @param allowed completes the sentence "expected ..." */
export const refusal = (name: SettingName, value: unknown, allowed: string): OptionsError => {
  const text = JSON.stringify(value, withoutUsers);
  const isSecret =
    secretNames.includes(name) ||
    (credentialNames.includes(name) && text.includes('@')) ||
    (addressNames.includes(name) && /:(?![\\/])[^@]*@/.test(text.replaceAll('…@', '').replace('mailto:', '')));
  const shown = isSecret ? 'the value given' : text;
  return new OptionsError(`${environmentName(name)}: ${shown} is not valid; expected ${allowed}`, name);
};
