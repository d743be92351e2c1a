/** The player's package for the image: a given one, one that electron-builder makes, or one with the tests' stand-in of the runtime. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { root } from '../bundles.ts';
import { electronPath } from '../electron-path.ts';
import { run } from './run.ts';

export interface Player {
  /** The path of the package. */
  deb: string;
  version: string;
  /** What runs it, for the bill of materials. */
  runtime: { type: string; name: string; version: string };
  /** The folder with what stands in for the runtime; absent: it is Electron. */
  standIn?: string;
}

const electron = (): Player['runtime'] => ({
  type: 'framework',
  name: 'electron',
  version: packageJson.devDependencies.electron,
});

const given = (path: string): Player => {
  const deb = resolve(path);
  if (!existsSync(deb)) throw new Error(`there is no package ${deb}`);
  const [name, version = ''] = ['Package', 'Version'].map((field) => run('dpkg-deb', ['--field', deb, field]).trim());
  if (name !== 'signage-player') throw new Error(`${deb} is a package of ${name}, not of signage-player`);
  // As electron-builder writes a prerelease, so that dpkg takes it for older than its release.
  return { deb, version: version.replace('~', '-'), runtime: electron() };
};

/**
 * @param deb the path of a package; absent: one is made
 * @param version that the stand-in says it is; absent: that of the package
 * @param standin whether the stand-in of the tests is taken, even where Electron's runtime can be had
 * @param work a folder for what is made
 * @param onEnd registers a clean-up, which runs after the build
 */
export const findPlayer = async (
  {
    deb,
    standin,
    version = packageJson.version,
  }: { deb?: string | undefined; standin: boolean; version?: string | undefined },
  work: string,
  onEnd: (end: () => void | Promise<void>) => void,
): Promise<Player> => {
  if (deb !== undefined) return given(deb);
  if (!standin && electronPath() !== null) {
    const builder = join(root, 'node_modules', '.bin', 'electron-builder');
    run(builder, ['--linux', 'deb', '--x64', '--publish', 'never', `-c.directories.output=${work}`]);
    return given(join(work, `signage-player-${version}-amd64.deb`));
  }
  const reason = standin ? '' : "Electron's runtime cannot be had here: ";
  console.log(`${reason}the image has the stand-in of the tests, and says so in its name.`);
  const { makeStandIn } = await import('../../test/install/stand-in.ts');
  const standIn = join(work, 'standin');
  const path = await makeStandIn(standIn, version, onEnd);
  return { deb: path, version, runtime: { type: 'framework', name: 'node', version: process.version }, standIn };
};
