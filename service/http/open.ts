/** Opens the HTTP server: the routes and sockets of all modules on one port. */
import type { IncomingMessage } from 'node:http';
import type { Admission, createAccess, SignResponse } from '../auth/access.ts';
import type { HeaderLines } from '../auth/signatures.ts';
import { partyOf } from '../auth/throttle.ts';
import { upgradeHeaders } from '../auth/tokens.ts';
import { CodedError } from '../contract/errors.ts';
import type { FullRule, SocketName } from '../contract/operations/index.ts';
import { socketRules } from '../contract/operations/rules.ts';
import type { ServiceContext } from '../module.ts';
import { type AppParts, anybody, type ChangeAudit, createApp } from './app.ts';
import { createGate, type Gate } from './gate.ts';
import type { AcceptSocket, AnswerOpen, Sockets } from './routes.ts';
import { listen, type Server } from './server.ts';
import { POLICY_VIOLATION } from './sockets.ts';

type HttpContext = Pick<ServiceContext, 'options' | 'log' | 'logs' | 'machineName' | 'clientAddress' | 'isOwnHost'>;

/** What the modules bring to the server. */
interface HttpParts extends AppParts {
  access: Pick<ReturnType<typeof createAccess>, 'admit'>;
  audit: ChangeAudit & {
    /** Called if credentials are refused. @param code of the error */
    onRefused(address: string, code: string): void;
  };
  /** The upgrade handlers of all modules, by path. */
  sockets: Sockets;
  answerOpen: AnswerOpen;
  /** Where it answers over TLS; null: it does not. */
  securePort(): number | null;
}

/** Matches the target of an upgrade request, query included, against the path of a socket. */
const patternOf = (path: string): RegExp => new RegExp(`^${path.replace(/:\w+/, '([^/?]+)')}(?:\\?|$)`);

/** @throws Error if a socket of the variant has no handler */
const createAdmission = (
  { clientAddress, isOwnHost, options: { variant } }: HttpContext,
  { access, audit, sockets, gate, isLocal, watchKey, ports }: HttpParts & { gate: Gate; ports(): number[] },
) => {
  const endpoints = Object.entries(socketRules)
    .filter(([, { isExtended }]) => !isExtended || variant === 'extended')
    .map(([path, rule]) => {
      const accept = sockets[path as SocketName];
      if (accept === undefined) throw new Error(`${path} needs a handler`);
      return { pattern: patternOf(path), rule, accept };
    });

  const checkCredentials = async (
    request: IncomingMessage,
    rule: FullRule,
    headers: HeaderLines,
    onSigned: (signResponse: SignResponse) => void,
  ): Promise<Admission> => {
    const { method = '', url: target = '', socket } = request;
    const { clientIp: address } = clientAddress(request);
    const host = request.headers.host ?? '';
    try {
      return await access.admit({
        ...rule,
        method,
        host,
        target,
        headers,
        address,
        isOwnHost: () => isOwnHost(host, [socket.localPort ?? 0, ...ports()]),
        isLocal: isLocal(request),
        onSigned,
      });
    } catch (error) {
      if (error instanceof CodedError && [401, 403, 429].includes(error.status)) audit.onRefused(address, error.code);
      throw error;
    }
  };

  return {
    /** Whether a request target is the path of a socket. */
    isSocket: (target: string): boolean => endpoints.some(({ pattern }) => pattern.test(target)),
    /** @throws CodedError as {@link createAccess} does */
    admit: (request: IncomingMessage, rule: FullRule, onSigned: (signResponse: SignResponse) => void) =>
      checkCredentials(request, rule, request.headersDistinct, onSigned),
    /** @throws CodedError `not_found` for an unknown path; the errors of the upgrade handler and of {@link createAccess} */
    admitSocket: async (
      request: IncomingMessage,
      onSigned: (signResponse: SignResponse) => void,
    ): Promise<AcceptSocket> => {
      for (const { pattern, rule, accept } of endpoints) {
        const match = pattern.exec(request.url ?? '');
        if (match === null) continue;
        gate.checkOrigin(request);
        const { signer } = await checkCredentials(request, rule, upgradeHeaders(request.headersDistinct), onSigned);
        const attach = accept(request, match[1] ?? '');
        if (signer === null) return attach;
        return (socket) => {
          attach(socket);
          const release = watchKey(signer.keyId, () =>
            socket.close(POLICY_VIOLATION, 'the key does not count any more'),
          );
          socket.once('close', release);
        };
      }
      await checkCredentials(request, anybody, request.headersDistinct, onSigned).catch(() => undefined);
      throw new CodedError('not_found');
    },
  };
};

/** @throws as {@link listen} and {@link createApp} do */
export const openHttp = async (context: HttpContext, parts: HttpParts): Promise<Server> => {
  const { options, log, machineName, clientAddress } = context;
  let port: number | null = null;
  const gate = createGate({ machineName, publicUrl: options.publicUrl, allowedHosts: options.allowedHosts });
  const { admit, admitSocket, isSocket } = createAdmission(context, {
    ...parts,
    gate,
    ports: () => [port, parts.securePort()].filter((each) => each !== null),
  });
  const app = createApp(context, { ...parts, gate, admit, isSocket });
  const server = await listen(
    {
      log,
      gate,
      app,
      partyOf: (request) => partyOf(clientAddress(request).clientIp),
      answerOpen: parts.answerOpen,
      admitSocket,
    },
    options,
  );
  ({ port } = server);
  return server;
};
