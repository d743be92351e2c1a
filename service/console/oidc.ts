/** The provider of the single sign-on, by the device authorization grant (RFC 8628) of OpenID Connect. */
import { createHash, randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { Configuration, DeviceAuthorizationResponse, IDToken } from 'openid-client';
import { z } from 'zod';
import { includesRole, isRole, type Role } from '../contract/roles.ts';
import { remember } from '../domain/collections.ts';
import type { ServiceContext } from '../module.ts';

/** Whom the provider has named. */
export interface SignedOn {
  /** Of issuer and subject: names and addresses of mail are shown, and never matched. */
  id: string;
  name: string;
  role: Role;
}

/** A device authorization that a person can answer. */
export interface Authorization {
  device: DeviceAuthorizationResponse;
  /**
   * Waits until the person has signed in. `expired`: nobody did in time.
   * @throws Error, whose message is a clause for the log: "the person has no role here"
   */
  wait(signal: AbortSignal): Promise<SignedOn | 'expired'>;
}

/** Its message is a clause for the log. */
class Denied extends Error {
  override readonly name = 'Denied';
}

const SCOPE = 'openid profile email';
/** How far the date of a token may be from the clock of this box. */
const ISSUED_MS = 600_000;
/** For how long the metadata of the provider are kept. */
const KEEP_MS = 600_000;
const ANSWER_MS = 10_000;
const MAX_BYTES = 1024 ** 2;
const MAX_TOKENS = 10_000;
const MAX_NAME = 64;
/** Signatures that a host without the key of the provider cannot make. */
const ALGORITHM = /^(?:RS|PS|ES)\d{3}$|^Ed(?:DSA|25519)$/;

const header = z.object({ alg: z.string() });

/** The algorithm that a token names. */
const algorithmOf = (token: string): string => {
  try {
    return header.parse(JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())).alg;
  } catch {
    return '';
  }
};

/** The id of a person, of issuer and subject. */
const personIdOf = (issuer: string, subject: string): string =>
  `sso-${createHash('sha256').update(`${issuer}\n${subject}`).digest('hex').slice(0, 16)}`;

/** The highest role that the claims give; null: none. Pure. @param rules as `claim:value=role` */
export const roleOf = (claims: Readonly<Record<string, unknown>>, rules: readonly string[]): Role | null => {
  let found: Role | null = null;
  for (const rule of rules) {
    const [, claim = '', wanted = '', role = ''] = /^((?:https?:\/\/)?[^:=]+):([^=]*)=(\w+)$/.exec(rule) ?? [];
    const value = claims[claim];
    const isMatch = Array.isArray(value) ? value.includes(wanted) : value === wanted;
    if (isMatch && isRole(role) && (found === null || includesRole(role, found))) found = role;
  }
  return found;
};

/** What others see of a person. */
const nameOf = (claims: IDToken): string => {
  const names = [claims['name'], claims['preferred_username'], claims['email']];
  const name = names.find((each): each is string => typeof each === 'string' && each.trim() !== '') ?? 'Somebody';
  return (
    name
      .replace(/\p{Cc}/gu, ' ')
      .trim()
      .slice(0, MAX_NAME) || 'Somebody'
  );
};

export const createProvider = ({ options, outbound, now }: Pick<ServiceContext, 'options' | 'outbound' | 'now'>) => {
  const { oidcIssuer: issuer, oidcClientId, oidcClientSecret, oidcRoles } = options;
  /** Hashes of accepted tokens; each token is accepted once. */
  const taken = new Map<string, true>();
  let known: { at: number; config: Configuration } | null = null;

  /** Requests of the library, as those of this box go out: through the proxy, with the authorities of the operator. */
  const fetchWith = async (
    url: string,
    {
      method,
      headers,
      body,
      signal,
    }: { method: string; headers: Record<string, string>; body?: unknown; signal?: AbortSignal },
  ): Promise<Response> => {
    const response = await outbound.send(new URL(url), {
      method: method === 'POST' ? 'POST' : 'GET',
      headers: { ...headers, 'Accept-Encoding': 'identity' },
      ...(body != null && { body: String(body) }),
      signal: signal ?? AbortSignal.timeout(ANSWER_MS),
      answerMs: ANSWER_MS,
    });
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BYTES) response.destroy(new Error('the provider says too much'));
    });
    const bytes = await buffer(response);
    const type = response.headers['content-type'];
    return new Response(new Uint8Array(bytes), {
      status: response.statusCode ?? 500,
      headers: type === undefined ? {} : { 'Content-Type': type },
    });
  };

  const configure = async (): Promise<Configuration> => {
    if (known !== null && now() - known.at < KEEP_MS && now() >= known.at) return known.config;
    const library = await import('openid-client');
    const url = new URL(issuer ?? '');
    const config = await library.discovery(url, oidcClientId, oidcClientSecret ?? undefined, undefined, {
      [library.customFetch]: fetchWith,
      // The setting takes http for this machine alone.
      execute: url.protocol === 'http:' ? [library.allowInsecureRequests] : [],
    });
    library.enableNonRepudiationChecks(config);
    known = { at: now(), config };
    return config;
  };

  /** @throws Denied */
  const judge = (token: string | undefined, claims: IDToken | undefined, nonce: string): SignedOn => {
    if (token === undefined || claims === undefined) throw new Denied('the provider sends no token of the person');
    if (!ALGORITHM.test(algorithmOf(token)))
      throw new Denied('the token is not signed with a key of the provider alone');
    if (Math.abs(claims.iat * 1_000 - now()) > ISSUED_MS)
      throw new Denied('the token is dated more than ten minutes off');
    if (claims.exp * 1_000 <= now()) throw new Denied('the token has expired');
    if (claims.nonce !== undefined && claims.nonce !== nonce) throw new Denied('the token is for another sign-in');
    const hash = createHash('sha256').update(token).digest('base64url');
    if (taken.has(hash)) throw new Denied('the token was used before');
    remember(taken, hash, true, MAX_TOKENS);
    const role = roleOf(claims, oidcRoles);
    if (role === null) throw new Denied('no claim of the person gives a role in SIGNAGE_OIDC_ROLES');
    return { id: personIdOf(claims.iss, claims.sub), name: nameOf(claims), role };
  };

  return {
    isOffered: issuer !== null,
    /** @throws the error of the request where the provider is away, or refuses the client */
    begin: async (): Promise<Authorization> => {
      const library = await import('openid-client');
      const config = await configure();
      const nonce = randomBytes(16).toString('base64url');
      const device = await library.initiateDeviceAuthorization(config, { scope: SCOPE, nonce });
      const wait = async (signal: AbortSignal): Promise<SignedOn | 'expired'> => {
        const until = now() + device.expires_in * 1_000;
        while (now() < until) {
          try {
            const tokens = await library.pollDeviceAuthorizationGrant(config, device, undefined, { signal });
            return judge(tokens.id_token, tokens.claims(), nonce);
          } catch (error) {
            if (signal.aborted || error instanceof Denied) throw error;
            if (error instanceof library.ResponseBodyError) {
              if (error.error === 'expired_token') return 'expired';
              throw new Denied(`the provider says ${error.error}`);
            }
            // A token that is not right; everything else is the way to the provider, which may be back.
            if (error instanceof library.ClientError) throw new Denied(`the token is refused: ${error.message}`);
            await new Promise((resolve) => setTimeout(resolve, (device.interval ?? 5) * 1_000).unref());
          }
        }
        return 'expired';
      };
      return { device, wait };
    },
  };
};
