/**
 * `npm run package:container [-- MIRROR]`: an image with the service without a display. mmdebstrap makes its base of Debian's packages,
 * buildah the image, as an archive of Docker's format, which has health checks: `podman load` and `docker load` read it.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { addressFile } from '../../service/contract/headers.ts';
import { root } from '../bundles.ts';
import { layOut, program } from './headless.ts';

/** Debian's release in the image, whose Node.js is new enough. */
const release = 'trixie';
const packages = ['nodejs', 'ffmpeg', 'bubblewrap', 'libheif-examples', 'ca-certificates', 'tzdata'];
/** The account of the service; any other works as well, if it may write to the volume. */
const USER = 10_001;
const PORT = 8080;

const home = `/usr/lib/${program}`;
/** Where it listens the service says in its data directory: settings may give another port. */
const address = `require('fs').readFileSync(process.env.SIGNAGE_DATA_DIR+'/${addressFile}','utf8').trim()`;
const check = `fetch(${address}+'/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))`;

const run = (command: string, ...args: string[]): string =>
  execFileSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 26, stdio: ['ignore', 'pipe', 'inherit'] });

/** @param mirror of Debian; absent: apt's own @returns the tar of the image's only layer */
const makeRoot = (work: string, mirror?: string): string => {
  const tree = join(work, 'tree');
  mkdirSync(tree);
  layOut(tree);
  // Debian's Node.js is there.
  rmSync(join(tree, home, 'bin'), { recursive: true });
  mkdirSync(join(tree, 'data'));
  const tar = join(work, 'root.tar');
  run(
    'mmdebstrap',
    ...['--variant=minbase', `--include=${packages.join(',')}`, '--dpkgopt=path-exclude=/usr/share/doc/*'],
    // Files of the image are root's, the volume is the service's.
    ...[`--customize-hook=copy-in ${join(tree, 'usr')} ${join(tree, 'data')} /`],
    ...[`--customize-hook=chown -R root:root "$1${home}" "$1/usr/bin/signage" && chown ${USER}:${USER} "$1/data"`],
    ...['--quiet', release, tar, ...(mirror === undefined ? [] : [mirror])],
  );
  return tar;
};

/**
 * @param out the folder that it is written to
 * @returns the path of the archive
 */
export const buildContainer = (out: string, mirror?: string): string => {
  const work = mkdtempSync(join(tmpdir(), 'signage-image-'));
  try {
    const tar = makeRoot(work, mirror);
    const storage = ['--root', join(work, 'storage'), '--runroot', join(work, 'run'), '--storage-driver', 'vfs'];
    const buildah = (...args: string[]): string => run('buildah', ...storage, ...args).trim();
    const image = buildah('from', '--format', 'docker', '--name', program, 'scratch');
    buildah('add', image, tar, '/');
    buildah(
      'config',
      ...['--user', `${USER}:${USER}`, '--workingdir', '/data', '--volume', '/data', '--port', `${PORT}/tcp`],
      ...['--env', 'SIGNAGE_DATA_DIR=/data', '--env', `PATH=/usr/bin:/bin`],
      ...['--entrypoint', JSON.stringify([`${home}/start`]), '--cmd', ''],
      ...[
        '--healthcheck',
        `CMD ${home}/node -e "${check}"`,
        '--healthcheck-interval',
        '30s',
        '--healthcheck-timeout',
        '5s',
      ],
      ...['--label', `org.opencontainers.image.version=${packageJson.version}`],
      image,
    );
    mkdirSync(out, { recursive: true });
    const architecture = run('dpkg', '--print-architecture').trim();
    const file = join(out, `${program}-${packageJson.version}-${architecture}.tar`);
    rmSync(file, { force: true });
    buildah(
      'commit',
      '--format',
      'docker',
      '--quiet',
      image,
      `docker-archive:${file}:${program}:${packageJson.version}`,
    );
    return file;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
};

if (process.argv[1] === import.meta.filename) console.log(buildContainer(join(root, 'release'), process.argv[2]));
