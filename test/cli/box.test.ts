/** `signage box`: actions on the machine of a box, and the token of the box itself; `signage backup`. */
import { execFile } from 'node:child_process';
import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import type { ServerResponse } from 'node:http';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createClient, type Limits, limits } from '../../service/cli/client.ts';
import { readLocalBox } from '../../service/cli/settings.ts';
import { kioskDataDir } from '../../service/domain/data-folder.ts';
import { exampleOf, startHostileBox } from '../support/hostile-box.ts';
import { patience } from '../support/observe.ts';
import { shareTestService, temporaryFolder } from '../support/service.ts';
import { pipeTo, program, signageHere } from './support.ts';

describe('signage box', () => {
  const box = shareTestService();
  const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    signageHere(['--box', box().url, 'box', ...args], env);

  test('the token of this machine opens what ends the player, and is sent to this machine alone', async () => {
    const far = await run([hostname(), 'reboot']);
    expect([far.code, far.stderr]).toEqual([
      4,
      expect.stringMatching(/taken from the box itself alone[^]*127\.0\.0\.1 alone.*SIGNAGE_HOST/),
    ]);
    const near = await run([hostname(), 'reboot'], { SIGNAGE_DATA_DIR: box().dataDir });
    expect([near.code, near.stdout]).toEqual([1, expect.stringContaining('without displays')]);
  });

  test('a kiosk that this user has started is found, and gets its own token', async () => {
    const [XDG_CONFIG_HOME, XDG_DATA_HOME] = [temporaryFolder(), temporaryFolder()];
    symlinkSync(box().dataDir, join(XDG_CONFIG_HOME, 'signage-player'));
    const near = await run([hostname(), 'reboot'], { XDG_CONFIG_HOME });
    expect([near.code, near.stdout]).toEqual([1, expect.stringContaining('without displays')]);
    const of = (env: NodeJS.ProcessEnv) => readLocalBox({ env, home: '/nowhere' })?.origin;
    expect(of({ XDG_CONFIG_HOME })).toBe(box().url);
    const other = join(XDG_DATA_HOME, 'signage-player');
    mkdirSync(other);
    writeFileSync(join(other, 'address'), 'http://127.0.0.1:1\n');
    writeFileSync(join(other, 'local-token'), 'of another player');
    expect((await run([hostname(), 'reboot'], { XDG_CONFIG_HOME, XDG_DATA_HOME })).code).toBe(1);
    expect(of({ XDG_CONFIG_HOME, XDG_DATA_HOME })).toBe('http://127.0.0.1:1');
  });

  test.each([
    ['linux', {}, '/home/maria/.config/signage-player'],
    ['linux', { XDG_CONFIG_HOME: 'relative' }, '/home/maria/.config/signage-player'],
    ['linux', { XDG_CONFIG_HOME: '/etc/maria' }, '/etc/maria/signage-player'],
    ['win32', {}, '/home/maria/AppData/Roaming/signage-player'],
    ['darwin', {}, '/home/maria/Library/Application Support/signage-player'],
  ] as const)('the folder of a kiosk on %s with %j is %s', (platform, env, folder) => {
    expect(kioskDataDir(env, '/home/maria', platform)).toBe(folder);
  });

  test('what is no order ends before anything is sent', async () => {
    for (const args of [['explode'], ['volume'], ['volume', '101'], ['reset'], ['reboot', 'now'], []]) {
      expect([args, (await run([hostname(), ...args])).code]).toEqual([args, 2]);
    }
    expect((await run(['nobody', 'identify'])).code).toBe(3);
    const wrong = await run([hostname(), 'reset', 'another'], { SIGNAGE_DATA_DIR: box().dataDir });
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('must repeat the name')]);
  });

  test('what is backed up is restored from the box itself, and a damaged file is refused', async () => {
    const file = join(box().dataDir, 'box.tar');
    const here = { SIGNAGE_DATA_DIR: box().dataDir };
    const onBox = (args: readonly string[]) => signageHere(['--box', box().url, ...args], here);
    expect((await signageHere(['--box', box().url, 'backup', file], {})).code).toBe(4);
    expect((await onBox(['backup', file])).code).toBe(0);
    const restored = await onBox(['restore', file, '--json']);
    expect([restored.code, JSON.parse(restored.stdout)]).toEqual([0, expect.objectContaining({ bindings: 0 })]);
    truncateSync(file, 3_000);
    expect([(await onBox(['restore', file])).code, (await onBox(['restore', '/nowhere.tar'])).code]).toEqual([1, 2]);
  });

  const short: Limits = { ...limits, headMs: 200, silenceMs: 200 };
  const silentFor = (ms: number): Promise<string> =>
    startHostileBox((_, response) => {
      setTimeout(() => response.end(JSON.stringify(exampleOf('POST /console/api/restore'))), ms);
    });

  test('a box that restores may be silent for long', async () => {
    const file = join(temporaryFolder(), 'box.tar');
    writeFileSync(file, 'a backup');
    const done = await signageHere(['--box', await silentFor(1_000), 'restore', file], {}, { limits: short });
    expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('Restored: 12 media')]);
  });

  test('of a box that is silent for longer it is said that it may still be restoring', async () => {
    const base = new URL(await silentFor(10_000));
    const client = createClient({
      base,
      secret: null,
      person: null,
      root: null,
      isOfSite: false,
      localToken: null,
      operator: null,
      onNotice: () => undefined,
      now: Date.now,
      limits: short,
    });
    const upload = { size: 1, sha256: '', open: () => Readable.from(['x']) };
    const work = { silenceMs: 400, advice: 'It may still be restoring.' };
    const asked = client.ask({ method: 'POST', path: '/console/api/restore', upload, work });
    await expect(asked).rejects.toMatchObject({
      exit: 'unreachable',
      message: `The box at ${base.origin} was sent all of it, but did not answer.\nIt may still be restoring.`,
    });
  });

  test('a backup into a pipe, or an open file by its link, comes through and replaces neither', async () => {
    const folder = temporaryFolder();
    const [pipe, file, link] = ['pipe', 'tar', 'link'].map((name) => join(folder, name)) as [string, string, string];
    const onBox = (args: readonly string[]) =>
      signageHere(['--box', box().url, ...args], { SIGNAGE_DATA_DIR: box().dataDir });

    const read = pipeTo(pipe, `cat > ${file}`);
    const piped = await onBox(['backup', pipe]);
    expect([piped.code, piped.stdout, lstatSync(pipe).isFIFO()]).toEqual([0, '', true]);
    await read;
    expect((await onBox(['restore', file])).code).toBe(0);

    const opened = join(folder, 'opened');
    const descriptor = openSync(opened, 'w');
    symlinkSync(`/proc/self/fd/${descriptor}`, link);
    const linked = await onBox(['backup', link]);
    expect([linked.code, linked.stdout, lstatSync(link).isSymbolicLink()]).toEqual([0, '', true]);
    closeSync(descriptor);
    expect((await onBox(['restore', opened])).code).toBe(0);
  });

  test('a backup goes through standard output to the next program, and what is said of it does not', async () => {
    const [cwd, file] = [temporaryFolder(), join(temporaryFolder(), 'tar')];
    const env = { ...process.env, SIGNAGE_DATA_DIR: box().dataDir, SIGNAGE_BOX: box().url };
    const { stderr } = await promisify(execFile)('sh', ['-c', `'${program}' backup - | cat > '${file}'`], { cwd, env });
    expect([stderr, readdirSync(cwd)]).toEqual([expect.stringMatching(/^-: [\d.]+ KiB\nKeep it/), []]);
    expect((await signageHere(['restore', file], env)).code).toBe(0);
  });

  test('a backup that cannot be written says why, and nothing is asked of the box', async () => {
    let requests = 0;
    const url = await startHostileBox((_, response) => {
      requests += 1;
      response.destroy();
    });
    const missing = join(temporaryFolder(), 'missing', 'box.tar');
    const { code, stderr } = await signageHere(['backup', missing], { SIGNAGE_BOX: url });
    expect([code, stderr, requests]).toEqual([2, `Error: ${missing} cannot be written (ENOENT).\n`, 0]);
  });

  test('a backup tells whether the file failed or the box', async () => {
    const tar = { 'Content-Type': 'application/x-tar' };
    const folder = temporaryFolder();
    const [pipe, file] = [join(folder, 'pipe'), join(folder, 'box.tar')];
    const endless = await startHostileBox((_, response) => {
      response.writeHead(200, tar);
      const write = (): void => void response.write(Buffer.alloc(65_536));
      response.on('drain', write);
      write();
    });
    const read = pipeTo(pipe, 'head -c 1');
    const full = await signageHere(['backup', pipe], { SIGNAGE_BOX: endless });
    await read;
    expect([full.code, full.stderr]).toEqual([2, `Error: ${pipe} cannot be written (EPIPE).\n`]);

    const ending = await startHostileBox((_, response) => {
      response.writeHead(200, tar).write('half');
      setTimeout(() => response.destroy(), 10);
    });
    writeFileSync(file, 'of yesterday');
    const ended = await signageHere(['backup', file], { SIGNAGE_BOX: ending });
    expect([ended.code, ended.stderr]).toEqual([69, expect.stringContaining('complete: nothing was written.')]);
    expect([readFileSync(file, 'utf8'), readdirSync(folder).sort()]).toEqual(['of yesterday', ['box.tar', 'pipe']]);
  });

  test('two backups into one file at once are both whole, and what a killed one left is removed', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'box.tar');
    const left = `${file}.01234567.part`;
    writeFileSync(left, 'half');
    utimesSync(left, 0, 0);
    writeFileSync(`${file}.mine.part`, 'of somebody');
    utimesSync(`${file}.mine.part`, 0, 0);
    const answers: ServerResponse[] = [];
    const url = await startHostileBox((_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/x-tar' }).write('half, ');
      answers.push(response);
    });
    const runs: ReturnType<typeof signageHere>[] = [];
    for (const index of [1, 2]) {
      runs.push(signageHere(['backup', file], { SIGNAGE_BOX: url }));
      await expect.poll(() => answers.length, patience).toBe(index);
    }
    for (const [index, run] of runs.entries()) {
      answers[index]?.end('whole');
      expect((await run).code).toBe(0);
      expect(readFileSync(file, 'utf8')).toBe('half, whole');
    }
    expect(readdirSync(folder).sort()).toEqual(['box.tar', 'box.tar.mine.part']);
  });

  test('what the hardware does not confirm ends as degraded, with the answer of the box', async () => {
    const shown = await run([hostname(), 'identify', '--json']);
    expect([shown.code, JSON.parse(shown.stdout)]).toEqual([
      5,
      expect.objectContaining({ result: 'unknown', state: 0 }),
    ]);
  });
});
