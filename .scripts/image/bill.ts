/** What is inside of an image, as CycloneDX: npm says it of the libraries, the lock of Debian's packages. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { root } from '../bundles.ts';
import { guidOf } from './layout.ts';
import type { Lock } from './lock.ts';
import type { Player } from './player.ts';
import { run } from './run.ts';

interface Component {
  'bom-ref'?: string;
  type: string;
  name: string;
  version: string;
  purl?: string;
  properties?: { name: string; value: string }[];
  hashes?: { alg: string; content: string }[];
}

interface Bill {
  serialNumber: string;
  metadata: { timestamp: string; component: Component; [key: string]: unknown };
  components: Component[];
  dependencies: { ref: string; dependsOn?: string[] }[];
  [key: string]: unknown;
}

/** A package of Debian as a component; its URL is that of the purl specification. */
export const componentOf = ({ name, version, sha256, path }: Lock['packages'][number]): Component => {
  const architecture = /_([^_]+)\.deb$/.exec(basename(path))?.[1] ?? '';
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-13`;
  return { type: 'library', name, version, purl, hashes: [{ alg: 'SHA-256', content: sha256 }] };
};

/** The libraries that the build takes in though only the build needs their packages, by their names. The runtime is none. */
const bundled = (): Set<string> => {
  const files = ['main', 'renderer', 'service'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(tsx?|css)$/.test(name) && name !== 'vite.config.ts')
      .map((name) => readFileSync(join(root, folder, name), 'utf8')),
  );
  const imported = /(?:from |import |import\(|url\()['"]((?:@[\w.-]+\/)?[\w.-]+)/g;
  const names = new Set(files.flatMap((text) => [...text.matchAll(imported)].map(([, name]) => name)));
  return new Set(Object.keys(packageJson.devDependencies).filter((name) => name !== 'electron' && names.has(name)));
};

/** The libraries of the player: those that it needs, and those that its bundles hold, with all that these need. */
const librariesOf = (): Bill => {
  const all = JSON.parse(run('npm', ['sbom', '--sbom-format', 'cyclonedx', '--prefix', root])) as Bill;
  const isTool = ({ properties = [] }: Component): boolean =>
    properties.some(({ name }) => name === 'cdx:npm:package:development');
  const refs = new Set(all.components.filter((each) => !isTool(each)).map((each) => each['bom-ref']));
  const needs = new Map(all.dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]));
  const names = bundled();
  const next = all.components.flatMap(({ name, 'bom-ref': ref = '' }) => (names.has(name) ? [ref] : []));
  for (const ref of next) {
    if (refs.has(ref)) continue;
    refs.add(ref);
    next.push(...(needs.get(ref) ?? []));
  }
  const top = all.metadata.component['bom-ref'];
  return {
    ...all,
    components: all.components.filter((each) => refs.has(each['bom-ref'])),
    dependencies: all.dependencies
      .filter(({ ref }) => refs.has(ref) || ref === top)
      .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) })),
  };
};

/**
 * @param packages those of Debian that are in it
 * @param runtime what runs the player
 * @param deb the player's package
 * @param seed what tells this image from others
 */
export const billOf = (
  { madeAt, packages }: Lock,
  runtime: Component,
  { deb, version }: Pick<Player, 'deb' | 'version'>,
  seed: string,
): string => {
  const libraries = librariesOf();
  const content = createHash('sha256').update(readFileSync(deb)).digest('hex');
  const player = { type: 'application', name: 'signage-player', version, hashes: [{ alg: 'SHA-256', content }] };
  const bill: Bill = {
    ...libraries,
    serialNumber: `urn:uuid:${guidOf(seed, 0)}`,
    metadata: { ...libraries.metadata, timestamp: new Date(madeAt * 1000).toISOString() },
    components: [...libraries.components, runtime, player, ...packages.map(componentOf)],
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
};
