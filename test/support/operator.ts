/** A person with the console or the command line: signs what it sends, where there is a secret. */
import { signRequest } from '../../service/auth/sign.ts';
import { createPageTokens } from '../../service/auth/tokens.ts';
import type { TestService } from './service.ts';
import { isSoak } from './soak.ts';

export const operatorSecret = 'correct horse battery staple';

/** As rows of `describe.each`. */
type Mode = readonly [title: string, secret: string | null];
const withSecret: Mode = ['with a secret', operatorSecret];

/** Both ways that a site can be run; for a smoke of all that there is. */
export const withAndWithoutSecret: readonly Mode[] = [['without a secret', null], withSecret];

/** With a secret, which is the stricter way; `npm run soak` runs both. */
export const secretModes: readonly Mode[] = isSoak ? withAndWithoutSecret : [withSecret];

/** Settings of a service with that secret. */
export const secretSettings = (secret: string | null): Record<string, string> =>
  secret === null ? {} : { SIGNAGE_SHARED_SECRET: secret };

/** Sends a request as JSON; each answer is compared with the OpenAPI document. Text and bytes are sent as they are. */
export type Ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Response>;

/** @param now the clock of that person's machine, ms since the epoch */
export const createOperator =
  ({ url, get }: Pick<TestService, 'url' | 'get'>, secret: string | null, now: () => number = Date.now): Ask =>
  (method, path, given, headers = {}) => {
    const isReady = given === undefined || typeof given === 'string' || given instanceof Uint8Array;
    const body = isReady ? (given as string | Uint8Array<ArrayBuffer> | undefined) : JSON.stringify(given);
    return get(path, {
      method,
      headers: {
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(secret !== null && signRequest({ secret, method, url: url + path, body: body ?? '', now: now() })),
        ...headers,
      },
      ...(body !== undefined && { body }),
    });
  };

/** The header of a page, which is not enough for an operator's requests. */
export const pageCredentials = async (secret: string): Promise<Record<string, string>> => {
  const tokens = createPageTokens({ secret, previous: null, lifetimeSeconds: 60, now: Date.now });
  return { 'x-signage-page-auth': (await tokens.issue())?.token ?? '' };
};

/** Status and code of an error. */
export const refusalOf = async (response: Response): Promise<[number, string]> => {
  const { error } = (await response.clone().json()) as { error: { code: string } };
  return [response.status, error.code];
};
