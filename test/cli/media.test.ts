/** Uploads by the command line. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lobby, lobbyWith } from '../content/samples.ts';
import { listenOn } from '../peers/support.ts';
import { createOperator } from '../support/operator.ts';
import { temporaryFolder } from '../support/service.ts';
import { secret, shareSite, signage } from './support.ts';

const site = shareSite(lobby);

const files = (names: readonly string[]): { folder: string; paths: string[] } => {
  const folder = temporaryFolder();
  for (const [index, name] of names.entries()) writeFileSync(join(folder, name), `${name} `.repeat(1000 * (index + 1)));
  return { folder, paths: names.map((name) => join(folder, name)) };
};

test('files are uploaded once: what is there with the same bytes is skipped, and what has changed is sent', async () => {
  const { one, run } = site();
  const { paths } = files(['one.jpg', 'two.jpg', 'drei äöü.jpg', '4.jpg', '5.jpg']);
  const first = await run(['media', 'put', ...paths]);
  expect(first).toMatchObject({ stderr: '', code: 0 });
  expect(first.stdout.split('\n').sort()).toEqual([
    '',
    ...['uploaded  4.jpg', 'uploaded  5.jpg', 'uploaded  drei äöü.jpg', 'uploaded  one.jpg', 'uploaded  two.jpg'],
  ]);
  const stored = await (await one.get('/media/drei%20%C3%A4%C3%B6%C3%BC.jpg')).text();
  expect(stored).toBe(readFileSync(paths[2] ?? '', 'utf8'));
  writeFileSync(paths[0] ?? '', 'changed');
  const { stdout } = await run(['media', 'put', ...paths, '--json']);
  const results = JSON.parse(stdout) as { filename: string; sha256: string; skipped: boolean }[];
  expect(results.filter(({ skipped }) => !skipped).map(({ filename }) => filename)).toEqual(['one.jpg']);
  const sha256 = createHash('sha256').update('changed').digest('hex');
  expect(results.find(({ filename }) => filename === 'one.jpg')).toMatchObject({ sha256 });
});

test.skipIf(process.platform !== 'linux')('a file that cannot be read is named', async () => {
  const path = join(temporaryFolder(), 'hall.jpg');
  // It opens, and its first page does not exist.
  symlinkSync('/proc/self/mem', path);
  const { code, stderr } = await site().run(['media', 'put', path]);
  expect([code, stderr]).toEqual([2, `Error: ${path} cannot be read (EIO).\n`]);
});

test('what is skipped is answered like what is sent', async () => {
  const { run } = site();
  const { folder, paths } = files(['notes.txt']);
  const picture = join(folder, 'dot.gif');
  writeFileSync(picture, 'GIF89a, and so on');
  const put = async () => {
    const { stdout } = await run(['media', 'put', ...paths, picture, '--json']);
    return (JSON.parse(stdout) as { filename: string }[]).toSorted((a, b) => (a.filename < b.filename ? -1 : 1));
  };
  const sent = await put();
  expect(sent).toMatchObject([
    { media_type: 'image/gif', skipped: false },
    { media_type: 'application/octet-stream', skipped: false },
  ]);
  expect(await put()).toEqual(sent.map((each) => ({ ...each, skipped: true })));
});

test('a file is deleted, and one that is not there is not found', async () => {
  const { one, run } = site();
  await run(['media', 'put', ...files(['away.jpg']).paths]);
  expect(await run(['media', 'delete', 'away.jpg', '--yes'])).toEqual({
    stdout: '',
    stderr: 'away.jpg is deleted.\n',
    code: 0,
  });
  expect((await one.get('/media/away.jpg')).status).toBe(404);
  expect(await run(['media', 'delete', 'away.jpg', '--yes'])).toMatchObject({ stdout: '', code: 3 });
});

test('who deletes a file that slides and drafts use is told which', async () => {
  const { one, run } = site();
  await run(['media', 'put', ...files(['used.jpg']).paths]);
  const content = lobbyWith([{ id: 'door', kind: 'image', media_url: '/media/used.jpg' }]);
  const ask = createOperator(one, secret);
  await ask('PUT', '/console/api/drafts/summer', { title: 'Summer', base_sha256: null, content });
  await ask('PUT', '/console/api/content', content, { 'If-Match': '*' });
  expect(await run(['media', 'delete', 'used.jpg', '--yes'])).toEqual({
    stdout: '',
    stderr: 'Warning: used.jpg is used by 1 slide (door) and 1 draft (Summer).\nused.jpg is deleted.\n',
    code: 0,
  });
});

test('wrong credentials are refused before a file is on its way', async () => {
  const { one } = site();
  const { paths } = files(['secret.jpg']);
  const { stderr, code } = await signage(['media', 'put', ...paths], { env: { SIGNAGE_BOX: one.url } });
  expect(code).toBe(4);
  expect(stderr).toContain('This request needs credentials.');
  expect((await one.get('/media/secret.jpg')).status).toBe(404);
});

test('names that no medium can have, and two files of one name, are usage errors', async () => {
  const { run } = site();
  const { folder } = files([]);
  mkdirSync(join(folder, 'b'));
  const bad = ['nul.txt', 'a\x1b]0;owned\x07.jpg', 'same.jpg', 'b/same.jpg'].map((name) => join(folder, name));
  for (const path of bad) writeFileSync(path, 'x');
  const reserved = await run(['media', 'put', bad[0] ?? '']);
  expect(reserved).toMatchObject({ stdout: '', code: 2 });
  expect(reserved.stderr).toContain('nul.txt: The file name is reserved on Windows.');
  const hostile = await run(['media', 'put', bad[1] ?? '']);
  expect(hostile.stderr).toBe('Error: a\\x1b]0;owned\\x07.jpg: The file name has control characters.\n');
  const twice = await run(['media', 'put', ...bad.slice(2)]);
  expect(twice).toMatchObject({ stderr: 'Error: Two of the files are called same.jpg.\n', code: 2 });
});

test('a box that goes away during an upload leaves the rest, and the next run goes on where this one ended', async () => {
  const { one, run } = site();
  const { paths } = files(['film-1.mp4', 'film-2.mp4']);
  writeFileSync(paths[1] ?? '', Buffer.alloc(20 * 1024 ** 2, 'x'));
  // A network that breaks in the middle of the second file.
  const proxy = createServer((incoming, response) => {
    const { method = '', url = '', headers } = incoming;
    const onward = request(one.url + url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => incoming.destroy());
    incoming.pipe(onward);
    if (method === 'PUT' && url.endsWith('film-2.mp4')) incoming.once('data', () => incoming.destroy());
  });
  const address = await listenOn(proxy);
  const broken = await run(['media', 'put', ...paths, '--box', address]);
  expect(broken).toMatchObject({ stdout: 'uploaded  film-1.mp4\n', code: 69 });
  expect(broken.stderr).toContain('1 file left. Run the same command again');
  expect((await one.get('/media/film-2.mp4')).status).toBe(404);
  expect(await run(['media', 'put', ...paths])).toMatchObject({
    stdout: 'skipped  film-1.mp4\nuploaded  film-2.mp4\n',
    code: 0,
  });
});
