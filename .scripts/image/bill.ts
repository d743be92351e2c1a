/** What is inside of an image, as CycloneDX: npm says it of the libraries, the lock of Debian's packages. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { root } from '../bundles.ts';
import { guidOf } from './layout.ts';
import type { Lock } from './lock.ts';
import type { Player } from './player.ts';
import { run } from './run.ts';

interface Component {
  type: string;
  name: string;
  version: string;
  purl?: string;
  hashes?: { alg: string; content: string }[];
}

interface Bill {
  serialNumber: string;
  metadata: { timestamp: string; [key: string]: unknown };
  components: Component[];
  [key: string]: unknown;
}

/** A package of Debian as a component; its URL is that of the purl specification. */
export const componentOf = ({ name, version, sha256, path }: Lock['packages'][number]): Component => {
  const architecture = /_([^_]+)\.deb$/.exec(basename(path))?.[1] ?? '';
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-13`;
  return { type: 'library', name, version, purl, hashes: [{ alg: 'SHA-256', content: sha256 }] };
};

/**
 * @param runtime what runs the player
 * @param deb the player's package
 * @param seed what tells this image from others
 */
export const billOf = (lock: Lock, runtime: Component, { deb, version }: Player, seed: string): string => {
  const libraries = JSON.parse(
    run('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit=dev', '--prefix', root]),
  ) as Bill;
  const content = createHash('sha256').update(readFileSync(deb)).digest('hex');
  const player = { type: 'application', name: 'signage-player', version, hashes: [{ alg: 'SHA-256', content }] };
  const bill: Bill = {
    ...libraries,
    serialNumber: `urn:uuid:${guidOf(seed, 0)}`,
    metadata: { ...libraries.metadata, timestamp: new Date(lock.madeAt * 1000).toISOString() },
    components: [...libraries.components, runtime, player, ...lock.packages.map(componentOf)],
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
};
