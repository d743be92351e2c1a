/** Secrets of pages: headers that the kiosk adds to requests of some origins, and that no answer holds. */
import { z } from 'zod';
import { instant } from '../terms.ts';

export const secretLimits = {
  /** Secrets of a site, and records, those of deleted ones included. */
  secrets: 100,
  records: 2_000,
  origins: 20,
  headers: 10,
  value: 8_192,
} as const;

export const secretName = z
  .string()
  .regex(/^[a-z0-9-]{1,64}$/, '1 to 64 of a-z, 0-9 and -')
  .describe('name of a secret');

const origin = z.string().max(300).describe('an https origin, or one of an IP address of the local network');

/** Headers that are the browser's own, or of a connection. */
const OWN =
  /^(?:host|origin|referer|connection|content-length|content-encoding|transfer-encoding|keep-alive|upgrade|te|trailer|expect|date|dnt|via|access-control-.*|proxy-.*|sec-.*)$/i;

const headerName = z
  .string()
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/, 'names of headers have up to 64 letters, digits and -')
  .refine((name) => !OWN.test(name), 'this header is set by the browser alone');
/** Visible ASCII, as every server reads it. */
const headerValue = z
  .string()
  .regex(
    /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/,
    'values of headers are visible ASCII, without spaces at their ends',
  )
  .max(secretLimits.value);

const headers = z.record(headerName, headerValue).refine((all) => {
  const names = Object.keys(all);
  const distinct = new Set(names.map((name) => name.toLowerCase()));
  return names.length > 0 && names.length <= secretLimits.headers && distinct.size === names.length;
}, `1 to ${secretLimits.headers} headers, each once`);

/** The body of `PUT /console/api/secrets/{name}`. */
export const secretRequest = z
  .strictObject({
    origins: z
      .array(origin)
      .min(1, 'at least one origin')
      .max(secretLimits.origins, `at most ${secretLimits.origins} origins`)
      .describe('exactly these get the headers'),
    headers: headers.describe('by their names; no answer holds the values'),
  })
  .meta({ id: 'SecretRequest' });
export type SecretRequest = z.infer<typeof secretRequest>;

export const secret = z
  .object({
    name: secretName,
    origins: z.array(z.string()).describe('exactly these get the headers'),
    updated_at: instant.describe('when it was last set'),
  })
  .meta({ id: 'Secret', description: 'a secret, without its values' });
export type Secret = z.infer<typeof secret>;

export const secretList = z
  .object({ secrets: z.array(secret).describe('by their names, without values') })
  .meta({ id: 'SecretList' });

/** A secret as boxes share it, sealed; its deletion is a record too. */
export const secretRecord = z.looseObject({
  id: secretName,
  origins: z.array(z.string()),
  headers: z.record(z.string(), z.string()),
  updated_at: instant,
  /** When it was deleted; null: it was not. */
  removed_at: instant.nullable(),
});
export type SecretRecord = z.infer<typeof secretRecord>;
