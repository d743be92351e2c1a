/** How a release is signed, and that a build that has the public key believes it. */
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { isSigned, readPublicKey } from '../../main/updates/downloads.ts';
import { isCi } from '../support/machine.ts';
import { findProgram } from '../support/program.ts';
import { plainScript } from '../support/script.ts';
import { temporaryFolder } from '../support/service.ts';
import { writeRelease } from '../updates/release.ts';

const root = join(import.meta.dirname, '..', '..');
const execute = promisify(execFile);

/** The script in a checkout of its own, so that the key it writes is not taken for the project's. */
const releaseKey = (checkout: string, args: string[], UPDATE_SIGNING_KEY = '') =>
  execute(process.execPath, [join(checkout, '.scripts', 'release-key.mjs'), ...args], {
    cwd: root,
    env: { PATH: process.env.PATH, UPDATE_SIGNING_KEY },
  });

const makeCheckout = async (): Promise<string> => {
  const checkout = temporaryFolder();
  await execute('mkdir', ['-p', join(checkout, '.scripts'), join(checkout, 'resources')]);
  const [source, copy] = [join(root, '.scripts', 'release-key.ts'), join(checkout, '.scripts', 'release-key.mjs')];
  copyFileSync(plainScript(source, copy), copy);
  writeFileSync(join(checkout, 'package.json'), '{"type":"module"}');
  return checkout;
};

test('a new key signs the metadata of every platform, and its public half verifies them', async () => {
  const checkout = await makeCheckout();
  const { stdout: key } = await releaseKey(checkout, ['new']);
  await releaseKey(checkout, ['public'], key);
  const publicKey = readPublicKey(readFileSync(join(checkout, 'resources', 'update-key.pem'), 'utf8'));

  const release = temporaryFolder();
  writeRelease(release, { version: '2.0.0' });
  for (const name of readdirSync(release)) if (name.endsWith('.sig')) rmSync(join(release, name));
  for (const name of [
    'latest.yml',
    'latest-image.yml',
    'latest-linux-arm64.yml',
    'latest-linux.yml',
    'beta-linux.yml',
  ]) {
    writeFileSync(join(release, name), `version: 2.0.0 # ${name}\n`);
  }
  writeFileSync(join(release, 'builder-effective-config.yaml'), '');
  writeFileSync(join(release, 'builder-debug.yml'), '');
  await releaseKey(checkout, ['sign', release], key);
  const signed = readdirSync(release).filter((name) => name.endsWith('.sig'));
  expect(signed).toEqual([
    'beta-linux.yml.sig',
    'latest-image.yml.sig',
    'latest-linux-arm64.yml.sig',
    'latest-linux.yml.sig',
    'latest.yml.sig',
  ]);
  for (const name of signed) {
    const [text, signature] = [name.slice(0, -4), name].map((file) => readFileSync(join(release, file), 'utf8'));
    expect(isSigned(text ?? '', signature ?? '', publicKey)).toBe(true);
    expect(isSigned(`${text} `, signature ?? '', publicKey)).toBe(false);
  }
});

test('without a key, or without a release, it says so and signs nothing', async () => {
  const checkout = await makeCheckout();
  await expect(releaseKey(checkout, ['public'])).rejects.toThrow();
  expect(existsSync(join(checkout, 'resources', 'update-key.pem'))).toBe(false);
  const { stdout: key } = await releaseKey(checkout, ['new']);
  await expect(releaseKey(checkout, ['sign', temporaryFolder()], key)).rejects.toThrow(/no metadata/);
});

interface Step {
  name?: string;
  id?: string;
  uses?: string;
  run?: string;
}

const workflow = (name: string) => {
  const text = readFileSync(join(root, '.github', 'workflows', name), 'utf8');
  const { jobs } = parse(text) as { jobs: Record<string, { steps: Step[] }> };
  const steps = Object.values(jobs).flatMap(({ steps: listed }) => listed);
  return { text, steps };
};

/** A step's script; as GitHub runs it, with `set -eo pipefail`. */
const scriptOf = (fits: (step: Step) => boolean): string =>
  `set -eo pipefail\n${workflow('release.yml').steps.find(fits)?.run ?? 'exit 99'}`;

const run = (script: string, cwd: string, env: Record<string, string> = {}) =>
  execute('bash', ['-c', script], { cwd, env: { PATH: process.env.PATH ?? '', ...env } });

test.skipIf(findProgram('shellcheck') === undefined && !isCi).each(['ci.yml', 'image.yml', 'release.yml'])(
  'every script of %s passes shellcheck',
  async (name) => {
    const scripts = workflow(name).steps.flatMap(({ run: script }) => script ?? []);
    expect(scripts.length).toBeGreaterThan(0);
    const folder = temporaryFolder();
    const files = scripts.map((script, index) => {
      const file = join(folder, `step-${index}.sh`);
      writeFileSync(file, `#!/bin/bash\n${script.replaceAll(/\$\{\{.*?\}\}/g, 'x')}\n`);
      return file;
    });
    await execute('shellcheck', files);
  },
);

test('the workflow puts nothing of an expression into a script, and uploads what the updater asks for', () => {
  const { text, steps } = workflow('release.yml');
  expect(steps.filter(({ run: script }) => script?.includes('${{'))).toEqual([]);
  const channel = '{{ steps.version.outputs.channel }}';
  const files = ['release/*.AppImage', 'release/*.deb', 'release/*.exe', 'release/*.cdx.json'];
  for (const path of [...files, `${channel}*.yml`, `${channel}*.yml.sig`]) expect(text).toContain(`${path}\n`);
});

test('what is published was started as a package before, on every platform', () => {
  const { steps } = workflow('release.yml');
  const at = (fits: (step: Step) => boolean) => steps.findIndex(fits);
  const built = at(({ run: script }) => script?.includes('npx electron-builder') ?? false);
  const started = at(({ run: script }) => script?.includes('test/package/start.test.ts') ?? false);
  const uploaded = at(({ uses }) => uses?.startsWith('actions/upload-artifact@') ?? false);
  expect([built, started, uploaded]).toEqual([built, started, uploaded].toSorted((a, b) => a - b));
  expect(built).toBeGreaterThan(0);
  const script = steps[started]?.run ?? '';
  for (const program of ['Signage Player.exe', '*.AppImage', '/opt/Signage Player/signage-player']) {
    expect(script).toContain(program);
  }
});

test.each([
  ['runs goes on', '#!/bin/sh\ntest "$1" = -version\n', true],
  ['does not run ends', '#!/bin/sh\nexit 1\n', false],
  ['was not downloaded ends', null, false],
])('a release whose ffmpeg %s', async (_, program, goesOn) => {
  const folder = temporaryFolder();
  const library = join(folder, 'node_modules', 'ffmpeg-static');
  mkdirSync(library, { recursive: true });
  writeFileSync(join(library, 'index.js'), `module.exports = '${join(library, 'ffmpeg')}';`);
  if (program !== null) writeFileSync(join(library, 'ffmpeg'), program, { mode: 0o755 });
  const checked = run(
    scriptOf(({ name }) => name?.startsWith('The ffmpeg of the packages') ?? false),
    folder,
    {},
  );
  if (goesOn) await checked;
  else await expect(checked).rejects.toThrow();
});

test.each([
  ['has one', ['google-chrome'], []],
  ['has none, as on arm64 and on Windows', [], ['playwright-core install --with-deps chromium']],
])('a machine that %s has a browser for the phone of the tests', async (_, programs, expected) => {
  const folder = temporaryFolder();
  symlinkSync(findProgram('bash') ?? '', join(folder, 'bash'));
  for (const name of [...programs, 'npx']) {
    writeFileSync(join(folder, name), '#!/bin/bash\necho "$*" >>calls\n', { mode: 0o755 });
  }
  await run(
    scriptOf(({ name }) => name?.startsWith('A browser') ?? false),
    folder,
    { PATH: folder },
  );
  const calls = join(folder, 'calls');
  expect(existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : []).toEqual(expected);
});

/** The first versions that run on a Node.js that GitHub's machines still have. */
const supported: Readonly<Record<string, number>> = {
  'actions/checkout': 5,
  'actions/setup-node': 5,
  'actions/upload-artifact': 6,
  'actions/download-artifact': 7,
};

test.each(['ci.yml', 'release.yml'])('%s uses actions that GitHub still runs', (name) => {
  const used = workflow(name).steps.flatMap(({ uses }) => uses ?? []);
  expect(used.length).toBeGreaterThan(0);
  const old = used.filter((each) => {
    const [action = '', version = ''] = each.split('@v');
    return !(Number(version) >= (supported[action] ?? Number.POSITIVE_INFINITY));
  });
  expect(old).toEqual([]);
});

test.each([
  ['1.2.3', 'v1.2.3', 'version=1.2.3\nchannel=latest\n'],
  ['1.2.3-beta.1', 'v1.2.3-beta.1', 'version=1.2.3-beta.1\nchannel=beta\n'],
])('version %s with the tag %s sets the channel of its metadata', async (version, tag, expected) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ version }));
  const output = join(folder, 'output');
  const script = scriptOf(({ id }) => id === 'version');
  await run(script, folder, { GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: tag, GITHUB_OUTPUT: output });
  expect(readFileSync(output, 'utf8')).toBe(expected);
  const other = { GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'v9.9.9', GITHUB_OUTPUT: output };
  await expect(run(script, folder, other)).rejects.toMatchObject({ stdout: /the tag v9\.9\.9 is not v1\.2\.3/ });
});

test.each([
  [
    'Linux',
    [
      'xvfb-run --auto-servernum HERE/release/a.AppImage',
      'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=1',
      'sudo apt-get install -y -qq ./release/a.deb',
      'signage --version',
      'docker run --rm -v /opt/Signage Player/resources/cli:/cli:ro node:18-slim node /cli/signage.mjs --help',
      'xvfb-run --auto-servernum /opt/Signage Player/signage-player',
    ],
  ],
  ['Windows', ['npx HERE/release/win-unpacked/Signage Player.exe']],
])('on %s the packages that will be published are started', async (platform, expected) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'release'));
  for (const name of ['a.AppImage', 'a.deb']) writeFileSync(join(folder, 'release', name), '');
  const standIns = {
    npx: 'echo "npx $SIGNAGE_TEST_PACKAGE" >>calls',
    'xvfb-run': 'echo "xvfb-run $1 $SIGNAGE_TEST_PACKAGE" >>calls',
    sudo: 'echo "sudo $*" >>calls',
    signage: 'echo "signage $*" >>calls',
    docker: 'echo "docker $*" >>calls',
  };
  for (const [name, script] of Object.entries(standIns)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  const script = scriptOf(({ run: text }) => text?.includes('test/package/start.test.ts') ?? false);
  await run(script, folder, { PATH: `${folder}:${process.env.PATH}`, RUNNER_OS: platform });
  const calls = readFileSync(join(folder, 'calls'), 'utf8').trim().replaceAll(folder, 'HERE').split('\n');
  expect(calls).toEqual(expected);
});

interface Job {
  needs?: string | string[];
  permissions?: Record<string, string>;
  steps: (Step & { env?: Record<string, string>; with?: Record<string, unknown> })[];
}

const release = () =>
  parse(readFileSync(join(root, '.github', 'workflows', 'release.yml'), 'utf8')) as {
    permissions: Record<string, string>;
    jobs: Record<'package' | 'install' | 'headless' | 'image' | 'photographs' | 'publish', Job>;
  };

test('only the job that publishes may write, it waits for all others, and one step alone has the token', () => {
  const { permissions, jobs } = release();
  expect(permissions).toEqual({ contents: 'read' });
  const { publish, ...others } = jobs;
  for (const [name, { permissions: own, needs }] of Object.entries(others)) {
    // The image is made around the package.
    expect([own, needs]).toEqual([undefined, name === 'image' ? 'package' : undefined]);
  }
  expect(publish.permissions).toEqual({ contents: 'write' });
  expect(publish.needs).toEqual(Object.keys(others));
  const steps = Object.values(jobs).flatMap((job) => job.steps);
  const withToken = steps.filter(({ env, with: inputs }) =>
    /github\.token|GITHUB_TOKEN/.test(JSON.stringify([env, inputs])),
  );
  expect(withToken.map(({ name }) => name)).toEqual(['Publish at once what is whole']);
  // Without it a checkout leaves the token in the folder, for whatever runs later.
  for (const { with: inputs } of steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'))) {
    expect(inputs).toMatchObject({ 'persist-credentials': false });
  }
});

test('what is published are the packages, not the photographs', () => {
  const { jobs } = release();
  const [download] = jobs.publish.steps.filter(({ uses }) => uses?.startsWith('actions/download-artifact@'));
  expect(download?.with).toMatchObject({ pattern: '*-*', path: 'release' });
  const names = readFileSync(join(root, '.github', 'workflows', 'release.yml'), 'utf8').matchAll(
    /target: .*, name: (\S+) \}/g,
  );
  for (const [, name] of names) expect(name).toContain('-');
  const uploaded = jobs.photographs.steps.find(({ uses }) => uses?.startsWith('actions/upload-artifact@'));
  expect(uploaded?.with).toMatchObject({ name: 'photographs' });
});

test.each([
  [
    'install' as const,
    [
      'sudo apt-get update -qq',
      'sudo apt-get install -y -qq --no-install-recommends apt-utils buildah debootstrap debian-archive-keyring mmdebstrap systemd-container',
      'sudo env PATH=HERE npm run test:install',
    ],
  ],
  [
    'headless' as const,
    [
      'sudo apt-get update -qq',
      'sudo apt-get install -y -qq --no-install-recommends buildah debian-archive-keyring mmdebstrap',
      'npm run package:headless',
      'sudo env PATH=HERE npm run package:container -- http://deb.debian.org/debian',
      'sudo chown -R nobody release',
      'gzip release/*.tar',
    ],
  ],
  [
    'image' as const,
    [
      'apt-get update -qq',
      'apt-get install -y -qq --no-install-recommends apt-utils ca-certificates dosfstools fdisk git mmdebstrap mtools rauc squashfs-tools xz-utils',
      'npm run image -- --lock',
      'npm run image -- --deb package/x.deb',
    ],
  ],
  [
    'photographs' as const,
    [
      'sudo apt-get update -qq',
      'sudo apt-get install -y -qq --no-install-recommends sway swaybg grim wtype',
      'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0',
      'npm run build',
      'npx 1 photographs vitest run --config test/vitest.config.ts test/kiosk/displays-photographed.test.ts',
    ],
  ],
])('the job %s installs what it needs, then runs its tests', async (name, expected) => {
  const folder = temporaryFolder();
  for (const path of ['package/x.deb', 'release/x-amd64.img.xz', 'resources/image/lock']) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), '');
  }
  for (const program of ['apt-get', 'gzip', 'sudo', 'npm', 'npx']) {
    const words = program === 'npx' ? '"npx $SIGNAGE_TEST_ELECTRON $SIGNAGE_PHOTOGRAPHS $*"' : `"${program} $*"`;
    writeFileSync(join(folder, program), `#!/bin/sh\necho ${words} >>calls\n`, { mode: 0o755 });
  }
  const path = `${folder}:${process.env.PATH}`;
  for (const { run: script = '', env } of release().jobs[name].steps) {
    if (script !== 'npm ci') await run(`set -eo pipefail\n${script}`, folder, { PATH: path, USER: 'nobody', ...env });
  }
  const calls = readFileSync(join(folder, 'calls'), 'utf8')
    .trim()
    .replaceAll(/PATH=\S+/g, 'PATH=HERE')
    .split('\n');
  expect(calls).toEqual(expected);
  const test = expected
    .at(-1)
    ?.split(' ')
    .findLast((word) => word.endsWith('.test.ts'));
  if (test !== undefined) expect(existsSync(join(root, test))).toBe(true);
});

test.each([
  ['Nothing but the real one is published', '.'],
  ['Checksums, and nothing that is a stand-in', 'release'],
])('a stand-in ends the step: %s', async (name, cwd) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'release'));
  writeFileSync(join(folder, 'release', 'player.deb'), '');
  const script = scriptOf((step) => step.name === name);
  await run(script, join(folder, cwd));
  writeFileSync(join(folder, 'release', 'player-standin.img.xz'), '');
  await expect(run(script, join(folder, cwd))).rejects.toThrow();
});

test.each([
  ['without a key there is no repository', '', []],
  [
    'with a key there is one',
    'key',
    [
      'npm ci',
      'sudo apt-get install -y -qq --no-install-recommends apt-utils',
      'npm run package:apt -- release/a.deb key',
    ],
  ],
])('%s', async (_, key, expected) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'release', 'apt'), { recursive: true });
  for (const name of ['release/a.deb', 'release/apt/tree', 'calls']) writeFileSync(join(folder, name), '');
  for (const program of ['sudo', 'npm']) {
    const script = `#!/bin/sh\necho "${program} $*${program === 'npm' ? '$([ "$2" = ci ] || [ "$1" = ci ] || echo " $APT_SIGNING_KEY")' : ''}" >>calls\n`;
    writeFileSync(join(folder, program), script, { mode: 0o755 });
  }
  const script = scriptOf(({ run: each }) => each?.includes('package:apt') ?? false);
  await run(script, folder, { PATH: `${folder}:${process.env.PATH}`, APT_SIGNING_KEY: key });
  expect(readFileSync(join(folder, 'calls'), 'utf8').split('\n').filter(Boolean)).toEqual(expected);
  expect(readdirSync(join(folder, 'release'))).toEqual(
    key === '' ? ['a.deb', 'apt'] : ['a.deb', 'signage-player-apt.tar.gz'],
  );
});

/** Publishes with a `gh` that only writes down its arguments. @returns a line for each call */
const publish = async (tag: string): Promise<string[]> => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'release'));
  writeFileSync(join(folder, 'release', 'a.deb'), 'a');
  writeFileSync(join(folder, 'gh'), '#!/bin/sh\necho "$*" >>calls\n', { mode: 0o755 });
  cpSync(join(root, '.scripts'), join(folder, '.scripts'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  await run(
    `git init -q && export GIT_{AUTHOR,COMMITTER}_{NAME,EMAIL}=nobody
    for subject in 'feat: be there' 'fix: stay there' 'feat(content): play videos'; do
      git commit -q --allow-empty -m "$subject"
      [ "$subject" = 'fix: stay there' ] && git tag v1.2.2
    done
    git tag ${tag}`,
    folder,
  );
  await run(
    scriptOf(({ run: script }) => script?.includes('sha256sum') ?? false),
    join(folder, 'release'),
  );
  const { stdout } = await run('sha256sum --check SHA256SUMS', join(folder, 'release'));
  expect(stdout).toBe('a.deb: OK\n');
  const env = {
    PATH: `${folder}:${process.env.PATH}`,
    GITHUB_REF_NAME: tag,
    GITHUB_SHA: 'abc',
    // Node 24, which the workflow uses, needs no help with TypeScript.
    NODE_OPTIONS: `--import ${import.meta.resolve('tsx')}`,
  };
  await run(
    scriptOf(({ run: script }) => script?.includes('gh release create') ?? false),
    folder,
    env,
  );
  expect(readFileSync(join(folder, 'notes.md'), 'utf8')).toBe('## New\n\n- **content:** play videos\n\n');
  return readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
};

test('a version is published whole, with checksums, and becomes the latest', async () => {
  expect(await publish('v1.2.3')).toEqual([
    'release create v1.2.3 --verify-tag --draft --notes-file notes.md release/SHA256SUMS release/a.deb',
    'release edit v1.2.3 --draft=false --latest',
  ]);
});

test('a prerelease never becomes the latest, and renews the release of its channel', async () => {
  const files = 'release/SHA256SUMS release/a.deb';
  expect(await publish('v1.2.3-beta.1')).toEqual([
    `release create v1.2.3-beta.1 --verify-tag --draft --prerelease --notes-file notes.md ${files}`,
    'release edit v1.2.3-beta.1 --draft=false --prerelease --latest=false',
    'release view beta',
    'release delete beta --cleanup-tag --yes',
    `release create beta --target abc --prerelease --latest=false --notes Version v1.2.3-beta.1 ${files}`,
  ]);
});

test('the bill of materials is CycloneDX and lists what the packages are made of', async () => {
  const { stdout } = await execute('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
    cwd: root,
    maxBuffer: 2 ** 26,
  });
  const { bomFormat, components } = JSON.parse(stdout) as { bomFormat: string; components: { name: string }[] };
  expect(bomFormat).toBe('CycloneDX');
  const names = components.map(({ name }) => name);
  for (const name of ['koa', 'electron', 'hls.js', 'ffmpeg-static']) expect(names).toContain(name);
});

// By name: without `resolved` addresses in the lock file npm matches no version. The lock file pins it by its hash.
/** Whether a range of versions (`engines`) takes Node.js 20.19. */
const takesOldest = (range: string): boolean =>
  range.split('||').some((part) => {
    const [, sign = '', major = '0', minor = '0'] = /^\s*([^\dx*]*)(\d+)?(?:\.(\d+))?/.exec(part) ?? [];
    const isReached = Number(major) < 20 || (Number(major) === 20 && Number(minor) <= 19);
    return sign.startsWith('>') ? isReached : major === '0' || (major === '20' && isReached);
  });

test('on the oldest Node.js that is supported npm warns of Electron and what packages it alone, as the README says', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { engines?: { node?: string } }>;
  };
  const warned = Object.entries(packages).flatMap(([path, { engines }]) =>
    takesOldest(engines?.node ?? '*') ? [] : [path.slice('node_modules/'.length)],
  );
  const named = ['@electron-internal/extract-zip', '@electron/get', '@electron/rebuild', 'electron', 'node-abi'];
  expect(warned.filter((name) => !named.some((each) => name.endsWith(each)))).toEqual([]);
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain('EBADENGINE');
});

test('every install script of a dependency is approved or denied by name, and only the one that brings ffmpeg runs', () => {
  const read = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'));
  const { packages } = read('package-lock.json') as { packages: Record<string, { hasInstallScript?: boolean }> };
  const { allowScripts } = read('package.json') as { allowScripts: Record<string, boolean> };
  const withScript = Object.entries(packages).flatMap(([path, { hasInstallScript }]) =>
    hasInstallScript ? [path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)] : [],
  );
  expect(Object.keys(allowScripts).toSorted()).toEqual(withScript.toSorted());
  expect(withScript.filter((name) => allowScripts[name])).toEqual(['ffmpeg-static']);
});
