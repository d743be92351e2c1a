/** Who is let in, by a request or with a socket: what the judge of credentials is told of them. */
import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import type { Admission, createAccess } from '../auth/access.ts';
import type { Access } from '../auth/policy.ts';
import type { HeaderLines } from '../auth/signatures.ts';
import { upgradeHeaders } from '../auth/socket.ts';
import { CodedError } from '../errors.ts';
import type { createClientAddress } from './client-address.ts';

type AcceptSocket = (socket: WebSocket) => void;

interface Dependencies {
  access: Pick<ReturnType<typeof createAccess>, 'admit'>;
  clientAddress: ReturnType<typeof createClientAddress>;
  /** The rooms that take sockets: each knows its paths, and answers undefined for any other. */
  socketRooms: readonly ((request: IncomingMessage) => AcceptSocket | undefined)[];
}

export const createAdmission = ({ access, clientAddress, socketRooms }: Dependencies) => {
  const judge = (request: IncomingMessage, accessClass: Access, headers: HeaderLines): Promise<Admission> => {
    const { method = '', url: target = '' } = request;
    const { clientIp: address } = clientAddress(request);
    const host = request.headers.host ?? '';
    return access.admit({ access: accessClass, method, host, target, headers, address });
  };

  return {
    /** @throws CodedError as {@link createAccess} does */
    admit: (request: IncomingMessage, accessClass: Access) => judge(request, accessClass, request.headersDistinct),
    /** @throws CodedError `not_found` where no room has the path; what the room, or the judge, refuses it with */
    admitSocket: async (request: IncomingMessage): Promise<AcceptSocket> => {
      for (const room of socketRooms) {
        const accept = room(request);
        if (accept === undefined) continue;
        await judge(request, 'signed or page', upgradeHeaders(request.headersDistinct));
        return accept;
      }
      throw new CodedError('not_found');
    },
  };
};
