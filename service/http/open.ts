/** Opens the HTTP server: the routes and sockets of all modules on one port. */
import type { Logger } from 'pino';
import type { createAccess } from '../auth/access.ts';
import type { Options } from '../platform/options/index.ts';
import type { SourceLogs } from '../platform/source-log.ts';
import { createAdmission } from './admission.ts';
import { type ChangeAudit, createApp } from './app.ts';
import type { createClientAddress } from './client-address.ts';
import { createGate } from './gate.ts';
import type { AnswerOpen, Context, Routes, Sockets } from './routes.ts';
import { listen, type Server } from './server.ts';

interface Dependencies {
  options: Pick<Options, 'host' | 'port' | 'variant' | 'console' | 'publicUrl' | 'allowedHosts'>;
  log: Logger;
  logs: SourceLogs;
  machineName: string;
  /** The id of this box. */
  nodeId: string;
  access: Pick<ReturnType<typeof createAccess>, 'admit'>;
  audit: ChangeAudit & {
    /** Called if credentials are refused. @param code of the error */
    onRefused(address: string, code: string): void;
  };
  clientAddress: ReturnType<typeof createClientAddress>;
  /** The routes of every module; each operation of the variant has exactly one handler. */
  routes: readonly Routes[];
  sockets: Sockets;
  answerOpen: AnswerOpen;
  /** Fills a response with the "page not found" page. */
  sendMissing(ctx: Pick<Context, 'type' | 'set' | 'body'>): void;
  /** Called for each request that names its device. */
  onDevice(deviceId: string): void;
}

/** @throws as {@link listen} and {@link createApp} do */
export const openHttp = ({ options, log, logs, ...means }: Dependencies): Promise<Server> => {
  const { machineName, nodeId, access, audit, clientAddress, routes, sockets, answerOpen, sendMissing, onDevice } =
    means;
  const { variant, publicUrl, allowedHosts } = options;
  const gate = createGate({ machineName, publicUrl, allowedHosts });
  const { admit, admitSocket, isSocket } = createAdmission({
    ...{ access, clientAddress, variant, socketHandlers: sockets },
    onRefused: audit.onRefused,
  });
  const app = createApp({
    ...{ logs, gate, clientAddress, variant, console: options.console && variant === 'extended', audit, nodeId },
    ...{ admit, isSocket, onDevice, sendMissing, routers: routes },
  });
  return listen({ log, gate, app, answerOpen, admitSocket }, options);
};
