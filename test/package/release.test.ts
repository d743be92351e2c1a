/** How a release is signed, and that a build that has the public key believes it. */
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { isSigned, readPublicKey } from '../../main/updates/signature.ts';
import { temporaryFolder } from '../support/service.ts';
import { writeRelease } from '../updates/release.ts';

const root = join(import.meta.dirname, '..', '..');
const execute = promisify(execFile);

/** The script in a checkout of its own, so that the key it writes is not taken for the project's. */
const releaseKey = (checkout: string, args: string[], UPDATE_SIGNING_KEY = '') =>
  execute(process.execPath, ['--import', 'tsx', join(checkout, '.scripts', 'release-key.ts'), ...args], {
    cwd: root,
    env: { PATH: process.env.PATH, UPDATE_SIGNING_KEY },
  });

const makeCheckout = async (): Promise<string> => {
  const checkout = temporaryFolder();
  await execute('mkdir', ['-p', join(checkout, '.scripts'), join(checkout, 'resources')]);
  copyFileSync(join(root, '.scripts', 'release-key.ts'), join(checkout, '.scripts', 'release-key.ts'));
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
  for (const name of ['latest.yml', 'latest-linux-arm64.yml', 'latest-linux.yml']) {
    writeFileSync(join(release, name), `version: 2.0.0 # ${name}\n`);
  }
  writeFileSync(join(release, 'builder-effective-config.yaml'), '');
  writeFileSync(join(release, 'builder-debug.yml'), '');
  await releaseKey(checkout, ['sign', release], key);
  const signed = readdirSync(release).filter((name) => name.endsWith('.sig'));
  expect(signed).toEqual(['latest-linux-arm64.yml.sig', 'latest-linux.yml.sig', 'latest.yml.sig']);
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

test('the workflow is sound YAML, its scripts sound bash, and it publishes what the updater asks for', async () => {
  const text = readFileSync(join(root, '.github', 'workflows', 'release.yml'), 'utf8');
  const { jobs } = parse(text) as { jobs: Record<string, { steps: { run?: string }[] }> };
  const scripts = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
  expect(scripts.length).toBeGreaterThan(5);
  for (const script of scripts) await execute('bash', ['-n', '-c', script.replaceAll(/\$\{\{.*?\}\}/g, 'x')]);
  for (const pattern of ['*.AppImage', '*.deb', '*.exe', 'latest*.yml', 'latest*.yml.sig']) {
    expect(text).toContain(`release/${pattern}\n`);
  }
});
