/** Protecting a site: a secret for its boxes, and an admin who joins at the box. */
import { randomBytes } from 'node:crypto';
import { chmod, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type ProtectedSite, protectRequest } from '../contract/console/protection.ts';
import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import { invitationFragment } from '../domain/joining.ts';
import { readJson } from '../http/body.ts';
import type { Routes } from '../http/routes.ts';
import { afterAnswer } from '../http/transfers.ts';
import type { ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';
import type { People } from '../people/index.ts';
import { changeConfig, readConfig, secretIn, withSecret } from '../platform/options/index.ts';
import { createQueue } from '../platform/queue.ts';
import type { Records } from '../records/index.ts';

interface Dependencies {
  people: Pick<People, 'put' | 'invite' | 'get'>;
  peers: Pick<Peers, 'all'>;
  records: Pick<Records, 'audit' | 'raise'>;
  /** The base URL of this box for other machines; null: none reaches it. */
  address(): string | null;
}

interface ShownInvitation {
  url: string;
  /** ISO 8601. */
  expiresAt: string;
}

const SECRET_BYTES = 24;
const INVITATION_MS = 600_000;

export const createProtection = (
  { options, dirs, machineName, restart }: Pick<ServiceContext, 'options' | 'dirs' | 'machineName' | 'restart'>,
  { people, peers, records, address }: Dependencies,
) => {
  const enqueue = createQueue();

  const protect = async (given?: string): Promise<Omit<ProtectedSite, 'restart_required'>> => {
    const path = join(dirs.data, 'config.json');
    const secret = given ?? randomBytes(SECRET_BYTES).toString('base64url');
    await changeConfig(path, async () => {
      const config = readConfig(path);
      // It may be written already, and not be in use before the restart.
      if (options.sharedSecret !== null || secretIn(config) !== undefined) throw new CodedError('already_protected');
      // Nobody else on this machine may read it.
      const { mode } = await stat(path).catch(() => ({ mode: 0 }));
      if ((mode & 0o007) !== 0) await chmod(path, mode & 0o770);
      return withSecret(config, secret);
    });
    const site = options.site === 'default' ? {} : { site: options.site };
    return {
      secret,
      config: JSON.stringify({ ...site, sharedSecret: secret }),
      boxes: peers.all().map(({ nodeId, url }) => ({ nodeId, url })),
    };
  };

  /** The id of a new admin, or of one who was made here and never joined. */
  const freeId = (): { id: string; name: string } => {
    for (let number = 1; ; number += 1) {
      const [id, name] = number === 1 ? ['admin', 'Admin'] : [`admin-${number}`, `Admin ${number}`];
      const known = people.get(id);
      const isSame = known?.record.name === name && known.role === 'admin' && known.disabled === null;
      if (known === null || (isSame && known.keys.length === 0)) return { id, name };
    }
  };

  const recover = (): Promise<ShownInvitation> =>
    enqueue(async () => {
      const base = address();
      if (base === null) throw new Error('This box has no address in the network, by which somebody could join.');
      const { id, name } = freeId();
      const by = { id: null, name: `the maintenance page of ${machineName}` };
      const rule = { action: 'person.recover', subject: 'person', id: 'id' } as const;
      const asked = { params: { id }, operator: null, address: null };
      const { code, expires_at } = await records.audit.during(rule, asked, async () => {
        await people.put(id, { name, role: 'admin' }, by);
        return people.invite(id, by, { ms: INVITATION_MS, via: 'recovery' });
      });
      const sentence = `The admin ${JSON.stringify(name)} was made at the maintenance page of the box ${machineName}.`;
      records.raise('recovery', id, sentence);
      return { url: `${base}/console${invitationFragment(id, code)}`, expiresAt: expires_at };
    });

  return {
    /**
     * Writes a secret to the config.json of this box; it counts from the next start.
     * @param secret of the site; absent: a new one
     * @throws CodedError `already_protected`, or the system's error
     */
    protect,
    /**
     * Makes an admin, and their invitation for ten minutes.
     * @throws CodedError `secret_required`, `too_many_people`; an Error with a message where no other machine reaches this box
     */
    recover,
    routes: {
      'POST /console/api/protect': async (ctx) => {
        if (!ctx.state.isLocal) throw new CodedError('local_required', 'This is taken from the box itself alone.');
        const { secret } = readFields(protectRequest, await readJson(ctx));
        const done = await protect(secret);
        if (restart !== undefined) afterAnswer(ctx.res, restart);
        ctx.status = 201;
        ctx.body = { ...done, restart_required: restart === undefined } satisfies ProtectedSite;
      },
    } satisfies Routes,
  };
};
