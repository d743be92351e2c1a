/** Checks the credentials of HTTP requests and of WebSocket upgrades. */
import type { IncomingMessage } from 'node:http';
import type { Admission, createAccess } from '../auth/access.ts';
import type { HeaderLines } from '../auth/signatures.ts';
import { upgradeHeaders } from '../auth/socket.ts';
import { CodedError } from '../contract/errors.ts';
import type { Access, SocketName } from '../contract/operations/index.ts';
import { socketRules } from '../contract/operations/rules.ts';
import type { Variant } from '../contract/terms.ts';
import type { createClientAddress } from './client-address.ts';
import type { AcceptSocket, Sockets } from './routes.ts';

interface Dependencies {
  access: Pick<ReturnType<typeof createAccess>, 'admit'>;
  clientAddress: ReturnType<typeof createClientAddress>;
  variant: Variant;
  /** Called if credentials are refused. @param code of the error */
  onRefused(address: string, code: string): void;
  /** The upgrade handlers of all modules, by path. */
  socketHandlers: Sockets;
}

/** Matches the target of an upgrade request, query included, against the path of a socket. */
const patternOf = (path: string): RegExp => new RegExp(`^${path.replace(/:\w+/, '([^/?]+)')}(?:\\?|$)`);

/** @throws Error if a socket of the variant has no handler */
export const createAdmission = ({ access, clientAddress, variant, onRefused, socketHandlers }: Dependencies) => {
  const endpoints = Object.entries(socketRules)
    .filter(([, { isExtended }]) => !isExtended || variant === 'extended')
    .map(([path, rule]) => {
      const accept = socketHandlers[path as SocketName];
      if (accept === undefined) throw new Error(`${path} needs a handler`);
      return { pattern: patternOf(path), rule, accept };
    });

  const checkCredentials = async (
    request: IncomingMessage,
    accessClass: Access,
    headers: HeaderLines,
  ): Promise<Admission> => {
    const { method = '', url: target = '' } = request;
    const { clientIp: address } = clientAddress(request);
    const host = request.headers.host ?? '';
    try {
      return await access.admit({ access: accessClass, method, host, target, headers, address });
    } catch (error) {
      if (error instanceof CodedError && [401, 403, 429].includes(error.status)) onRefused(address, error.code);
      throw error;
    }
  };

  return {
    /** Whether a request target is the path of a socket. */
    isSocket: (target: string): boolean => endpoints.some(({ pattern }) => pattern.test(target)),
    /** @throws CodedError as {@link createAccess} does */
    admit: (request: IncomingMessage, accessClass: Access) =>
      checkCredentials(request, accessClass, request.headersDistinct),
    /** @throws CodedError `not_found` for an unknown path; the errors of the upgrade handler and of {@link createAccess} */
    admitSocket: async (request: IncomingMessage): Promise<AcceptSocket> => {
      for (const { pattern, rule, accept } of endpoints) {
        const match = pattern.exec(request.url ?? '');
        if (match === null) continue;
        const accepted = accept(request, match[1] ?? '');
        await checkCredentials(request, rule.access, upgradeHeaders(request.headersDistinct));
        return accepted;
      }
      throw new CodedError('not_found');
    },
  };
};
