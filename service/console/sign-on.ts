/** Single sign-on: a page or the command line begins, the person signs in with the provider, and the key counts. */
import { randomBytes } from 'node:crypto';
import { partyOf } from '../auth/throttle.ts';
import { type KeyRequest, keyRequest, type SignInBegun, type SignInState } from '../contract/console/people.ts';
import { CodedError, tooManyRequests } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import { countBy } from '../domain/collections.ts';
import { readJson } from '../http/body.ts';
import type { Routes } from '../http/routes.ts';
import type { Module, ServiceContext } from '../module.ts';
import type { People } from '../people/index.ts';
import type { Records } from '../records/index.ts';
import { createProvider } from './oidc.ts';
import type { KeyTeller } from './people.ts';

interface Dependencies {
  people: Pick<People, 'checkSecret' | 'signIn'>;
  records: Pick<Records, 'audit'>;
  /** Tells the others of a new key of an admin. */
  tellKey: KeyTeller;
}

const MAX_OPEN = 20;
const MAX_OF_ADDRESS = 5;
const INTERVAL_S = 5;
const ID_BYTES = 16;
/** For how long the page can ask what became of one, beyond its end. */
const KEEP_MS = 60_000;
/** How long a sign-in may go unpolled before it gives way to a new one from its address. */
const SILENT_MS = 30_000;

interface SignIn {
  party: string;
  until: number;
  askedAt: number;
  end: AbortController;
  answer: SignInState;
}

const unanswered = { key: null, person: null, role: null, tags: null } as const;

export const createSignOn = (
  context: Pick<ServiceContext, 'options' | 'outbound' | 'now' | 'log'>,
  { people, records, tellKey }: Dependencies,
): Module & { routes: Routes } => {
  const { now, log } = context;
  const provider = createProvider(context);
  const open = new Map<string, SignIn>();

  const forget = (): void => {
    for (const [id, { until }] of open) if (until + KEEP_MS < now()) open.delete(id);
  };

  /**
   * Ends the oldest sign-in of the address with the most for one of an address that has none, so that no address keeps
   * others out.
   * @throws CodedError `too_many_requests`
   */
  const makeRoom = (party: string): void => {
    forget();
    const pending = [...open.values()].filter(({ answer }) => answer.state === 'pending');
    const own = pending.filter((each) => each.party === party);
    if (pending.length < MAX_OPEN && own.length < MAX_OF_ADDRESS) return;
    const counts = countBy(pending.map((each) => each.party));
    const crowded = pending.toSorted((a, b) => (counts[b.party] ?? 0) - (counts[a.party] ?? 0));
    const [last] = own.length === 0 ? crowded : own.filter(({ askedAt }) => now() - askedAt >= SILENT_MS);
    if (last === undefined)
      throw tooManyRequests(60, 'Too many sign-ins are open; finish one, or wait until they have expired.');
    last.end.abort();
    last.answer = { state: 'expired', ...unanswered };
  };

  const follow = async (
    signIn: SignIn,
    authorization: Awaited<ReturnType<typeof provider.begin>>,
    { request, address }: { request: KeyRequest; address: string },
  ): Promise<void> => {
    try {
      const found = await authorization.wait(signIn.end.signal);
      if (found === 'expired') {
        signIn.answer = { state: 'expired', ...unanswered };
        return;
      }
      const { id, name } = found;
      const rule = { action: 'person.signin', subject: 'person', id: 'id' } as const;
      const asked = { params: { id }, operator: name, person: { id, name }, address };
      const { key, person } = await records.audit.during(rule, asked, () => people.signIn(found, request, address));
      const { role, tags } = person;
      signIn.answer = { state: 'done', key, person: { id, name }, role, tags };
      tellKey(id, request.device, address);
    } catch (error) {
      if (signIn.end.signal.aborted) return;
      log.warn({ reason: (error as Error).message, address }, 'a sign-in was refused');
      signIn.answer = { state: 'denied', ...unanswered };
    }
  };

  return {
    routes: {
      'POST /console/api/oidc': async (ctx) => {
        people.checkSecret();
        if (!provider.isOffered) throw new CodedError('sign_on_unavailable');
        if (!ctx.state.isSecure && !ctx.state.isLocal) throw new CodedError('secure_required');
        const request = readFields(keyRequest, await readJson(ctx));
        const { clientIp: address } = ctx.state;
        const party = partyOf(address);
        makeRoom(party);
        const id = randomBytes(ID_BYTES).toString('hex');
        // It counts while the provider is asked, so that nobody opens more at the same moment.
        const signIn: SignIn = {
          party,
          until: now() + KEEP_MS,
          askedAt: now(),
          end: new AbortController(),
          answer: { state: 'pending', ...unanswered },
        };
        open.set(id, signIn);
        const authorization = await provider.begin().catch((error: unknown) => {
          open.delete(id);
          log.warn({ err: error }, 'the provider of the single sign-on did not begin a sign-in');
          throw new CodedError('issuer_away');
        });
        const { user_code, verification_uri, verification_uri_complete, expires_in, interval } = authorization.device;
        signIn.until = now() + expires_in * 1_000;
        void follow(signIn, authorization, { request, address });
        ctx.status = 201;
        ctx.body = {
          id,
          user_code,
          verification_uri,
          verification_uri_complete: verification_uri_complete ?? null,
          expires_at: new Date(signIn.until).toISOString(),
          interval: interval ?? INTERVAL_S,
        } satisfies SignInBegun;
      },
      'GET /console/api/oidc/:id': (ctx) => {
        people.checkSecret();
        forget();
        const found = open.get(ctx.params.id);
        if (found === undefined) throw new CodedError('sign_in_not_found');
        found.askedAt = now();
        ctx.body = found.answer;
      },
    },
    close: () => {
      for (const { end } of open.values()) end.abort();
    },
  };
};
