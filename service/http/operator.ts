/** Who makes a change: proven by a key, or as a header says. */
import type { IncomingMessage } from 'node:http';
import type { Signer } from '../auth/person-keys.ts';
import { operatorHeader } from '../contract/headers.ts';
import { includesRole } from '../contract/roles.ts';
import type { Author } from '../contract/terms.ts';

interface Asking {
  req: Pick<IncomingMessage, 'headers'>;
  state: { signer: Pick<Signer, 'id' | 'name'> | null };
}

/** UTF-8, as programs write it; else ISO 8859-1, as browsers send it. Node reads all headers as the latter. */
const decode = (value: string): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
};

/** The person who has signed; null: nobody has proven who they are. */
export const personOf = ({ state: { signer } }: Pick<Asking, 'state'>): Author | null =>
  signer === null ? null : { id: signer.id, name: signer.name };

/** The person's name, or the self-declared one; null: absent, or not of 1 to 64 characters. */
export const operatorOf = ({ req: { headers }, state: { signer } }: Asking): string | null => {
  if (signer !== null) return signer.name;
  const name = decode(String(headers[operatorHeader] ?? '')).trim();
  return /^\P{Cc}{1,64}$/u.test(name) ? name : null;
};

/** The person who has signed, else the self-declared name; null: nobody is known. */
export const authorOf = (ctx: Asking): Author | null => {
  const name = operatorOf(ctx);
  return name === null ? null : { id: ctx.state.signer?.id ?? null, name };
};

/** Whether somebody sees addresses whole: everybody but viewers, who might use what is in them. */
export const mayReadAll = ({ state: { signer } }: { state: { signer: Pick<Signer, 'role'> | null } }): boolean =>
  signer === null || includesRole(signer.role, 'editor');
