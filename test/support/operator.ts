/** A person with the console or the command line: signs what it sends, where there is a secret. */
import { signRequest } from '../../service/auth/sign.ts';
import { createPageTokens } from '../../service/auth/tokens.ts';
import type { TestService } from './service.ts';

export const operatorSecret = 'correct horse battery staple';

/** Both ways that every row of the console's API must work; as rows of `describe.each`. */
export const withAndWithoutSecret = [
  ['without a secret', null],
  ['with a secret', operatorSecret],
] as const;

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
