import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFfmpeg, findOnPath } from '../../service/platform/ffmpeg.ts';
import { environment } from '../streams/server.ts';
import { describeStreams } from '../streams/setup.ts';
import { temporaryFolder } from '../support/service.ts';

const LANG = 'C';

/** A program that is called ffmpeg, in a folder of its own. */
const install = (
  folder = join(temporaryFolder(), 'bin'),
  script = '#!/bin/sh\necho ffmpeg version 9.9-test Copyright\n',
) => {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'ffmpeg');
  writeFileSync(path, script);
  chmodSync(path, 0o755);
  return { path, PATH: folder };
};

describe('ffmpeg', () => {
  it('is the one that was set', async () => {
    const { path } = install();
    const ffmpeg = createFfmpeg({ childEnvironment: { PATH: '', LANG }, ffmpegPath: path });
    expect(await ffmpeg.find()).toEqual({ path, source: 'setting', version: '9.9-test' });
  });

  it('is the one that was set by its name', async () => {
    const { path, PATH } = install();
    expect(await createFfmpeg({ childEnvironment: { PATH, LANG }, ffmpegPath: 'ffmpeg' }).find()).toEqual({
      path,
      source: 'setting',
      version: '9.9-test',
    });
  });

  it('is no other where the one that was set is not there', async () => {
    const { PATH } = install();
    expect(
      await createFfmpeg({ childEnvironment: { PATH, LANG }, ffmpegPath: '/nonexistent/ffmpeg' }).find(),
    ).toBeNull();
  });

  it('is the first on the PATH', async () => {
    const { path, PATH } = install();
    const folders = ['', 'relative', temporaryFolder(), PATH, install().PATH].join(delimiter);
    expect(await findOnPath('ffmpeg', { PATH: folders })).toBe(path);
  });

  it('is not a file that can not be run', async () => {
    const { path, PATH } = install();
    chmodSync(path, 0o644);
    expect(await findOnPath('ffmpeg', { PATH })).toBeNull();
  });

  it('is found once it is installed', async () => {
    const folder = temporaryFolder();
    const ffmpeg = createFfmpeg({ childEnvironment: { PATH: folder, LANG }, ffmpegPath: 'ffmpeg' });
    expect(await ffmpeg.find()).toBeNull();
    const { path } = install(folder);
    expect(await ffmpeg.find()).toMatchObject({ path });
  });

  it('is the next one where the first is no file', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'ffmpeg'));
    const { path, PATH } = install();
    const folders = [folder, PATH].join(delimiter);
    expect(
      await createFfmpeg({ childEnvironment: { PATH: folders, LANG }, ffmpegPath: 'ffmpeg' }).find(),
    ).toMatchObject({
      path,
    });
  });

  it('is asked again once it is another file', async () => {
    const { path, PATH } = install();
    const ffmpeg = createFfmpeg({ childEnvironment: { PATH, LANG }, ffmpegPath: 'ffmpeg' });
    expect(await ffmpeg.find()).toMatchObject({ version: '9.9-test' });
    writeFileSync(path, '#!/bin/sh\nexit 1 # broken by an upgrade\n');
    expect(await ffmpeg.find()).toBeNull();
  });

  it('is taken to run where the machine is too busy to find out', { timeout: 20_000 }, async () => {
    const { PATH } = install(undefined, '#!/bin/sh\nexec sleep 30\n');
    const environment = { PATH: [PATH, process.env['PATH']].join(delimiter), LANG };
    expect(await createFfmpeg({ childEnvironment: environment, ffmpegPath: 'ffmpeg' }).find()).toMatchObject({
      version: 'unknown',
    });
  });

  it.each(['#!/bin/sh\nexit 1\n', '#!/bin/sh\necho something else\n', 'not a program'])(
    'is none where it does not run: %j',
    async (script) => {
      const { PATH } = install(undefined, script);
      expect(await createFfmpeg({ childEnvironment: { PATH, LANG }, ffmpegPath: 'ffmpeg' }).find()).toBeNull();
    },
  );
});

describeStreams('the ffmpeg of this machine', () => {
  it('is described', async ({ expect }) => {
    expect(await createFfmpeg({ childEnvironment: environment, ffmpegPath: null }).find()).toEqual({
      path: expect.stringMatching(/ffmpeg(?:\.exe)?$/),
      source: expect.stringMatching(/^(?:PATH|ffmpeg-static)$/),
      version: expect.stringMatching(/^\S+$/),
    });
  });
});
