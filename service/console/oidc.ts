/** The provider of the single sign-on, by the device authorization grant (RFC 8628) of OpenID Connect. */
import { createHash, randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { Configuration, DeviceAuthorizationResponse, IDToken } from 'openid-client';
import { z } from 'zod';
import { includesRole, isRole, type Role } from '../contract/roles.ts';
import type { ServiceContext } from '../module.ts';

/** Whom the provider has named. */
export interface SignedOn {
  /** Of issuer and subject: names and addresses of mail are shown, and never matched. */
  id: string;
  name: string;
  role: Role;
  /** The hash of the token that said so, which is taken once. */
  token: string;
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
/** Where the provider names none (RFC 8628, 3.2). */
const INTERVAL_S = 5;
const MAX_BYTES = 1024 ** 2;
/** The longest that a sign-in is open, s, and the longest pause between two questions whether it is done. */
const MAX_OPEN_S = 3_600;
const MAX_INTERVAL_S = 60;
const MAX_NAME = 64;
/** Signatures that a host without the key of the provider cannot make. */
const ALGORITHM = /^(?:RS|PS|ES)\d{3}$|^Ed(?:DSA|25519)$/;

/** What openid-client says of a token, or of this client; all else it says of the way to the provider, which may be back. */
const REFUSALS = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_KEY_SELECTION_FAILED',
  'OAUTH_UNSUPPORTED_OPERATION',
]);
/** Errors of OAuth (RFC 6749, 4.1.2.1) after which a request may succeed. */
const PASSING = new Set(['server_error', 'temporarily_unavailable']);
/** What the library reads of an answer. */
const READ_HEADERS = ['content-type', 'retry-after', 'www-authenticate'];

const header = z.object({ alg: z.string() });

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

/** The highest role that the claims give; null: none. Pure. @param rules as `claim:value=role`; a claim may hold colons */
export const roleOf = (claims: Readonly<Record<string, unknown>>, rules: readonly string[]): Role | null => {
  let found: Role | null = null;
  for (const rule of rules) {
    const [, claim = '', wanted = '', role = ''] = /^([^=]+):([^:=]+)=(\w+)$/.exec(rule) ?? [];
    const value = claims[claim];
    const isMatch = Array.isArray(value) ? value.includes(wanted) : value === wanted;
    if (isMatch && isRole(role) && (found === null || includesRole(role, found))) found = role;
  }
  return found;
};

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
    const read = READ_HEADERS.flatMap((name): [string, string][] => {
      const value = response.headers[name];
      return value === undefined ? [] : [[name, String(value)]];
    });
    return new Response(new Uint8Array(bytes), { status: response.statusCode ?? 500, headers: read });
  };

  const configure = async (): Promise<Configuration> => {
    if (known !== null && now() - known.at < KEEP_MS && now() >= known.at) return known.config;
    const library = await import('openid-client');
    const url = new URL(issuer ?? '');
    const config = await library.discovery(url, oidcClientId, oidcClientSecret ?? undefined, undefined, {
      [library.customFetch]: fetchWith,
      // The setting takes http only for this machine.
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
    const role = roleOf(claims, oidcRoles);
    if (role === null) throw new Denied('no claim of the person gives a role in SIGNAGE_OIDC_ROLES');
    const hash = createHash('sha256').update(token).digest('base64url');
    return { id: personIdOf(claims.iss, claims.sub), name: nameOf(claims), role, token: hash };
  };

  return {
    isOffered: issuer !== null,
    /** @throws the error of the request where the provider is away, or refuses the client */
    begin: async (): Promise<Authorization> => {
      const library = await import('openid-client');
      const config = await configure();
      const nonce = randomBytes(16).toString('base64url');
      const given = await library.initiateDeviceAuthorization(config, { scope: SCOPE, nonce });
      const device = { ...given, expires_in: Math.min(given.expires_in, MAX_OPEN_S) };
      /** @returns null: the way to the provider failed, which may be back */
      const refusalOf = (error: unknown): Denied | null => {
        if (error instanceof Denied) return error;
        if (error instanceof library.ResponseBodyError)
          return error.status === 429 || PASSING.has(error.error)
            ? null
            : new Denied(`the provider says ${error.error}`);
        if (error instanceof library.WWWAuthenticateChallengeError && error.status === 401)
          return new Denied('the provider does not know SIGNAGE_OIDC_CLIENT_ID with this SIGNAGE_OIDC_CLIENT_SECRET');
        const isRefusal = error instanceof library.ClientError && REFUSALS.has(error.code ?? '');
        return isRefusal ? new Denied(`the token is refused: ${error.message}`) : null;
      };
      const wait = async (signal: AbortSignal): Promise<SignedOn | 'expired'> => {
        const end = AbortSignal.timeout(device.expires_in * 1_000);
        const options = { signal: AbortSignal.any([signal, end]) };
        let interval = device.interval ?? INTERVAL_S;
        while (!end.aborted) {
          try {
            // It waits for the interval before each request.
            const asked = { ...device, interval };
            const tokens = await library.pollDeviceAuthorizationGrant(config, asked, undefined, options);
            return judge(tokens.id_token, tokens.claims(), nonce);
          } catch (error) {
            if (signal.aborted) throw error;
            if (error instanceof library.ResponseBodyError && error.error === 'expired_token') return 'expired';
            const refusal = refusalOf(error);
            if (refusal !== null) throw refusal;
            // As RFC 8628, 3.5 has it for a provider that does not answer.
            interval = Math.min(interval * 2, MAX_INTERVAL_S);
          }
        }
        return 'expired';
      };
      return { device, wait };
    },
  };
};
