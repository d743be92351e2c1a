import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { lobby } from '../../support/player.ts';
import { temporaryFolder } from '../../support/service.ts';
import { walk } from '../../support/soak.ts';
import { noise, serveBytes, startRemote } from '../remote.ts';
import { png } from '../server.ts';

const MIB = 1024 ** 2;
const patience = { timeout: 60_000, interval: 50 };

it('a service that is killed during a download continues it at its next start', {
  ...walk,
  timeout: 120_000,
}, async () => {
  const remote = await startRemote();
  const bytes = Buffer.concat([png, noise(70 * MIB)]);
  const whole = serveBytes(bytes, { type: 'image/png' });
  remote.answer('/a', (request, response) => {
    if (request.headers.range !== undefined) return whole(request, response);
    response.writeHead(200, { ETag: '"one"', 'Content-Length': bytes.length });
    response.write(bytes.subarray(0, 50 * MIB));
  });
  const dataDir = temporaryFolder();
  writeFileSync(
    join(dataDir, 'content.json'),
    JSON.stringify(lobby([{ kind: 'image', media_url: `${remote.url}/a` }])),
  );
  const mediaDir = join(dataDir, 'media');
  const start = (): ChildProcess => {
    const child = spawn(process.execPath, ['dist/service/headless.js'], {
      env: { SIGNAGE_HOST: '127.0.0.1', SIGNAGE_PORT: '0', SIGNAGE_DATA_DIR: dataDir },
      stdio: 'ignore',
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  };
  /** The part, once a note of it has been made. */
  const partBytes = (): number => {
    const names = existsSync(mediaDir) ? readdirSync(mediaDir).filter((name) => name.startsWith('.part-')) : [];
    const [part] = names.filter((name) => names.includes(`${name}.json`));
    return part === undefined ? 0 : statSync(join(mediaDir, part)).size;
  };

  const first = start();
  await expect.poll(partBytes, patience).toBe(50 * MIB);
  first.kill('SIGKILL');
  await once(first, 'exit');
  start();
  const copies = join(mediaDir, 'copies');
  await expect.poll(() => readdirSync(copies), patience).toHaveLength(1);
  expect(readFileSync(join(copies, String(readdirSync(copies)[0]))).equals(bytes)).toBe(true);
  const ranges = remote.requests.map(({ headers }) => headers.range);
  expect(ranges).toEqual([undefined, expect.stringMatching(/^bytes=\d{8}-$/)]);
  expect(partBytes()).toBe(0);
});
