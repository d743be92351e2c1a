/** People over HTTP: `/console/api/me`, `/console/api/people` and `/console/api/join`. */
import { networkInterfaces } from 'node:os';
import { z } from 'zod';
import { requireRole } from '../auth/person-keys.ts';
import { sha256Hex, signAnswer } from '../auth/sign.ts';
import { partyOf } from '../auth/throttle.ts';
import {
  joinRequest,
  keyId as keyIdSchema,
  keyRequest,
  type Me,
  type People as PeopleAnswer,
  type Person,
  personId,
  personRequest,
} from '../contract/console/people.ts';
import { CodedError, tooManyRequests } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import { invitationFragment } from '../domain/joining.ts';
import { ownBase, publicBase } from '../domain/lan-address.ts';
import { createRates } from '../domain/rate.ts';
import { answerHeader, clockHeader } from '../domain/request-signature.ts';
import { timestampText } from '../domain/time.ts';
import { readJson } from '../http/body.ts';
import { isEncrypted } from '../http/client-address.ts';
import { authorOf } from '../http/operator.ts';
import type { Context, Routes } from '../http/routes.ts';
import type { ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';
import type { People, PersonView } from '../people/index.ts';
import type { Records } from '../records/index.ts';

interface Dependencies {
  people: Omit<People, 'restore' | 'records'>;
  peers: Pick<Peers, 'askAll' | 'all'>;
  /** Tells the others of a new key of an admin. */
  tellKey: KeyTeller;
}

/** Wrong proofs of an address within the window, after which further wrong ones are too many. */
const MAX_WRONG = 10;
const WRONG_WINDOW_MS = 60_000;
const MAX_ADDRESSES = 10_000;

const idParams = z.object({ id: personId });
const keyParams = z.object({ keyId: keyIdSchema });

const idOf = (id: string): string => readFields(idParams, { id }).id;

type Uses = Readonly<Record<string, string>>;

/** What the API tells of a person. @param uses when keys were used last, by id */
const personOf = ({ record, role, tags, disabled, keys }: PersonView, uses: Uses): Person => ({
  id: record.id,
  name: record.name,
  // A role of a newer version counts for nothing here.
  role: role ?? 'viewer',
  tags,
  keys: keys.map(({ id, device, added_at, by, address, ends_at }) => ({
    id,
    device,
    added_at,
    last_used_at: uses[id] ?? null,
    invited_by: by,
    address,
    ends_at,
  })),
  created_at: record.created_at,
  disabled_at: disabled?.at ?? null,
});

/** The latest use of each key at any box. */
const latest = (all: readonly Uses[]): Uses => {
  const uses = all.flatMap((each): [string, string][] => Object.entries(each));
  // Of several entries of a key the last one stays.
  return Object.fromEntries(uses.toSorted(([, a], [, b]) => (a < b ? -1 : 1)));
};

/** Counts wrong proofs by address. @returns the error for one more */
const createWrongProofs = (monotonicNow: () => number) => {
  const rates = createRates(MAX_WRONG, WRONG_WINDOW_MS, MAX_ADDRESSES);
  return (address: string): CodedError => {
    const rate = rates(partyOf(address));
    const cause = new CodedError('invitation_invalid');
    if (rate.take(monotonicNow())) return cause;
    return tooManyRequests(rate.wait(monotonicNow()) / 1_000, undefined, cause);
  };
};

export type KeyTeller = (id: string, device: string, address: string) => void;

export const createKeyTeller =
  ({ people, records }: { people: Pick<People, 'get'>; records: Pick<Records, 'raise'> }): KeyTeller =>
  (id, device, address) => {
    const person = people.get(id);
    if (person?.role !== 'admin') return;
    const sentence = `The admin ${JSON.stringify(person.record.name)} has a new key, on the device ${JSON.stringify(device.trim())} at ${address}.`;
    records.raise('person', id, sentence);
  };

export const peopleRoutes = (
  { options, now, monotonicNow }: Pick<ServiceContext, 'options' | 'now' | 'monotonicNow'>,
  { people, peers, tellKey }: Dependencies,
): Routes => {
  const wrongProof = createWrongProofs(monotonicNow);

  /** When keys were used at all boxes, and which boxes do not know of all removals. */
  const gather = async (): Promise<{ uses: Uses } & Pick<PeopleAnswer, 'behind' | 'degraded'>> => {
    const { answers, degraded } = await peers.askAll('people.keys');
    const own = sha256Hex(people.removals());
    // A box of another protocol takes no keys, and before a removal there is nothing to hear of.
    const others = people.hasRemovals() ? answers.filter(({ peer }) => !peer.isForeign) : [];
    const behind = others.flatMap(({ peer, body }) => (body?.removals === own ? [] : peer.url));
    return {
      uses: latest([people.uses(), ...answers.flatMap(({ body }): Uses[] => (body === null ? [] : [body.used]))]),
      behind,
      degraded,
    };
  };

  const send = (ctx: Context, status: number, body: unknown): void => {
    ctx.status = status;
    ctx.body = body;
  };

  /** The base URL by which others reach this box. */
  const base = (ctx: Context): string => {
    const reached = {
      host: ctx.get('Host'),
      scheme: ctx.state.isSecure ? ('https:' as const) : ('http:' as const),
      port: ctx.req.socket.localPort ?? 0,
      portScheme: isEncrypted(ctx.req.socket) ? ('https:' as const) : ('http:' as const),
    };
    return publicBase(options.publicUrl, reached, networkInterfaces(), options.host) ?? ownBase(options.host, reached);
  };

  return {
    'GET /console/api/me': (ctx) => {
      const { signer } = ctx.state;
      const who: Me =
        signer === null
          ? { person: null, role: 'admin', tags: [] }
          : { person: { id: signer.id, name: signer.name }, role: signer.role, tags: [...signer.tags] };
      send(ctx, 200, who);
    },

    'GET /console/api/people': async (ctx) => {
      people.checkSecret();
      const { uses, behind, degraded } = await gather();
      const list = people.list().map((each) => personOf(each, uses));
      send(ctx, 200, { people: list, behind, degraded } satisfies PeopleAnswer);
    },

    'PUT /console/api/people/:id': async (ctx) => {
      people.checkSecret();
      const id = idOf(ctx.params.id);
      const request = readFields(personRequest, await readJson(ctx));
      const isNewOnly = ctx.get('If-None-Match') === '*';
      const { person, isNew } = await people.put(id, request, authorOf(ctx), isNewOnly);
      send(ctx, isNew ? 201 : 200, personOf(person, people.uses()));
    },

    'DELETE /console/api/people/:id': async (ctx) => {
      people.checkSecret();
      await people.disable(idOf(ctx.params.id), authorOf(ctx));
      ctx.status = 204;
    },

    'POST /console/api/people/:id/keys': async (ctx) => {
      people.checkSecret();
      const id = idOf(ctx.params.id);
      const { signer } = ctx.state;
      if (signer?.id !== id) {
        throw new CodedError('person_required', 'A further key is added with a key of the same person.');
      }
      const request = readFields(keyRequest, await readJson(ctx));
      const { clientIp } = ctx.state;
      send(ctx, 201, { key: await people.addKey(signer, request, clientIp) });
      tellKey(id, request.device, clientIp);
    },

    'DELETE /console/api/people/:id/keys/:keyId': async (ctx) => {
      people.checkSecret();
      const id = idOf(ctx.params.id);
      const { signer } = ctx.state;
      if (signer !== null && signer.id !== id) requireRole(signer.role, 'admin');
      const { keyId } = readFields(keyParams, { keyId: ctx.params.keyId });
      await people.removeKey(id, keyId, authorOf(ctx), signer?.keyId === keyId);
      ctx.status = 204;
    },

    'POST /console/api/people/:id/invitations': async (ctx) => {
      people.checkSecret();
      const id = idOf(ctx.params.id);
      if (!ctx.state.isSecure && !ctx.state.isLocal) throw new CodedError('secure_required');
      const { code, expires_at } = await people.invite(id, authorOf(ctx));
      send(ctx, 201, { code, url: `${base(ctx)}/console${invitationFragment(id, code)}`, expires_at });
    },

    'POST /console/api/join': async (ctx) => {
      people.checkSecret();
      const request = readFields(joinRequest, await readJson(ctx));
      const key = people.checkProof(request);
      if (key === null) throw wrongProof(ctx.state.clientIp);
      ctx.state.signResponse = (status, body) => {
        const clock = timestampText(now());
        if (body === null) return { [clockHeader]: clock };
        const sha256 = typeof body === 'object' && 'sha256' in body ? body.sha256 : sha256Hex(body);
        return {
          [clockHeader]: clock,
          [answerHeader]: signAnswer(key, { request: request.proof, status, sha256, clock }),
        };
      };
      const { key: id, person } = await people.join(request, key, ctx.state.clientIp);
      tellKey(request.person, request.device, ctx.state.clientIp);
      const { record, role, tags } = person;
      const { id: whom, name } = record;
      send(ctx, 201, { key: id, person: { id: whom, name }, role, tags, root: people.root() });
    },

    'GET /api/peers/keys': (ctx) => {
      send(ctx, 200, { used: people.uses(), removals: sha256Hex(people.removals()) });
    },
  };
};
