/** The servers that the service is compared with, each a process of its own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writtenAnswer } from '../servers/answer.ts';
import { installPeer } from './peers.ts';
import { type Server, startServer } from './process.ts';

const servers = join(import.meta.dirname, '..', 'servers');
const node = [process.execPath, '--import', 'tsx'];

/** How to start each server; the file of the prepared answer and the folder of an installed package are its arguments. */
const commands = {
  'node:http, same Buffer and headers': { command: [...node, join(servers, 'node-http.ts')] },
  'Fastify, same Buffer': { command: [...node, join(servers, 'fastify.ts')], peer: 'fastify' },
  'Koa, the payload as an object': { command: [...node, join(servers, 'koa.ts')] },
  Bun: { command: [join(servers, 'bun.ts')], peer: 'bun' },
  'ws, serialized for each': { command: [...node, join(servers, 'ws.ts')], argument: 'naive' },
  'ws, one frame for all': { command: [...node, join(servers, 'ws.ts')], argument: 'prepared' },
  'Socket.IO': { command: [...node, join(servers, 'socket-io.ts')], peer: 'socket.io' },
} as const;

export type ContenderName = keyof typeof commands;

export interface Contenders {
  running: Map<ContenderName, Server>;
  /** Why the others do not run. */
  missed: Map<ContenderName, string>;
  stop(): Promise<void>;
}

/** Starts servers that give the same answer as the service did. */
export const startContenders = async (names: readonly ContenderName[], answer: Response): Promise<Contenders> => {
  const folder = mkdtempSync(join(tmpdir(), 'signage-bench-'));
  const file = join(folder, 'answer.json');
  writeFileSync(file, writtenAnswer({ headers: answer.headers, body: await answer.text() }));
  const running = new Map<ContenderName, Server>();
  const missed = new Map<ContenderName, string>();
  for (const name of names) {
    const { command, ...more } = commands[name];
    const peer = 'peer' in more ? more.peer : undefined;
    const installed = peer === undefined ? { folder: 'argument' in more ? more.argument : '' } : installPeer(peer);
    if ('missed' in installed) {
      missed.set(name, installed.missed);
      continue;
    }
    const program = peer === 'bun' ? [join(installed.folder, 'node_modules', 'bun', 'bin', 'bun.exe')] : [];
    try {
      running.set(name, await startServer([...program, ...command, file, installed.folder]));
    } catch (error) {
      missed.set(name, (error as Error).message);
    }
  }
  return {
    running,
    missed,
    stop: async () => {
      for (const server of running.values()) await server.stop();
      rmSync(folder, { recursive: true });
    },
  };
};
