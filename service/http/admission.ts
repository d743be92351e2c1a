/** Who is let in, by a request or with a socket: what the judge of credentials is told of them. */
import type { IncomingMessage } from 'node:http';
import type { Admission, createAccess } from '../auth/access.ts';
import type { HeaderLines } from '../auth/signatures.ts';
import { upgradeHeaders } from '../auth/socket.ts';
import { CodedError } from '../contract/errors.ts';
import { type Access, type SocketName, sockets } from '../contract/operations/index.ts';
import type { Variant } from '../contract/terms.ts';
import type { createClientAddress } from './client-address.ts';
import type { AcceptSocket, Sockets } from './routes.ts';

interface Dependencies {
  access: Pick<ReturnType<typeof createAccess>, 'admit'>;
  clientAddress: ReturnType<typeof createClientAddress>;
  variant: Variant;
  /** Of every room that takes sockets. */
  rooms: Required<Sockets>;
}

/** A socket's path as upgrade requests have it. */
const patternOf = (path: string): RegExp => new RegExp(`^${path.replace(/:\w+/, '([^/?]+)')}(?:\\?|$)`);

export const createAdmission = ({ access, clientAddress, variant, rooms }: Dependencies) => {
  const doors = Object.entries(sockets)
    .filter(([, rule]) => rule.variant === 'baseline' || variant === 'extended')
    .map(([path, rule]) => ({ pattern: patternOf(path), rule, accept: rooms[path as SocketName] }));

  const judge = (request: IncomingMessage, accessClass: Access, headers: HeaderLines): Promise<Admission> => {
    const { method = '', url: target = '' } = request;
    const { clientIp: address } = clientAddress(request);
    const host = request.headers.host ?? '';
    return access.admit({ access: accessClass, method, host, target, headers, address });
  };

  return {
    /** @throws CodedError as {@link createAccess} does */
    admit: (request: IncomingMessage, accessClass: Access) => judge(request, accessClass, request.headersDistinct),
    /** @throws CodedError `not_found` where there is no such socket; what the room, or the judge, refuses it with */
    admitSocket: async (request: IncomingMessage): Promise<AcceptSocket> => {
      for (const { pattern, rule, accept } of doors) {
        const match = pattern.exec(request.url ?? '');
        if (match === null) continue;
        const accepted = accept(request, match[1] ?? '');
        await judge(request, rule.access, upgradeHeaders(request.headersDistinct));
        return accepted;
      }
      throw new CodedError('not_found');
    },
  };
};
