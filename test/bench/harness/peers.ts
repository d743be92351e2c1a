/** Peers from the registry, which are no dependencies: installed on demand, once, into a folder of their own. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const peerVersions = { fastify: '5.12.8', 'socket.io': '4.8.4', bun: '1.4.5' } as const;

export type Peer = keyof typeof peerVersions;

const folder = join(import.meta.dirname, '..', '..', '..', 'node_modules', '.cache', 'signage-bench');

/** The folder with the package in its node_modules, or a sentence that says why it could not be installed. */
export const installPeer = (name: Peer): { folder: string } | { missed: string } => {
  const version = peerVersions[name];
  const own = join(folder, `${name}-${version}`);
  const manifest = join(own, 'node_modules', name, 'package.json');
  if (existsSync(manifest)) return { folder: own };
  try {
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, 'package.json'), '{ "private": true }');
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefix', own, `${name}@${version}`], {
      stdio: 'ignore',
      timeout: 120_000,
    });
    readFileSync(manifest);
    return { folder: own };
  } catch (error) {
    return { missed: `npm could not install ${name}@${version} (${(error as Error).message.split('\n')[0]})` };
  }
};
