/** Files as people have them: uploaded at one box, and shown by all displays of the site. */
import { expect, it } from 'vitest';
import type { MediaList } from '../../service/contract/media.ts';
import { renditionHeader } from '../../service/contract/media.ts';
import { startSite } from '../peers/support.ts';
import { isSkipped } from '../support/browser.ts';
import { isCi } from '../support/machine.ts';
import { hasFfmpeg } from '../support/media.ts';
import { openPlayer } from '../support/player.ts';
import { findProgram } from '../support/program.ts';
import type { TestService } from '../support/service.ts';
import { isSoak } from '../support/soak.ts';
import { documents } from './corpus/documents.ts';
import { films } from './corpus/films.ts';
import { watch } from './corpus/judge.ts';
import { pictures } from './corpus/pictures.ts';
import type { Sample } from './corpus/sample.ts';

const all = [...films, ...pictures, ...documents];
const few = ['hevc.mp4', 'phone.heic', 'desk.mov', 'menu.pdf', 'huge.jpg', 'bomb.png'];
const asked = process.env.SIGNAGE_TEST_CORPUS?.split(',') ?? (isSoak ? null : few);
const chosen = all.filter(({ name }) => asked?.includes(name) ?? true);
/** Displays of a round: so many pages play at once. */
const PART = 20;
const parts = Array.from({ length: Math.ceil(chosen.length / PART) }, (_, index) => {
  const part = chosen.slice(index * PART, (index + 1) * PART);
  return { part, from: part[0]?.name, to: part.at(-1)?.name };
});

const stateOf = async (box: TestService, name: string): Promise<string> => {
  const { media } = (await (await box.get('/console/api/media')).json()) as MediaList;
  return media.find(({ filename }) => filename === name)?.rendition.state ?? 'absent';
};

/** LibreOffice is a script, and needs others. */
const env: Record<string, string> = isSoak ? { PATH: process.env.PATH ?? '' } : {};

const expectedState = ({ rendition }: Sample): string =>
  rendition === null ? 'none' : rendition === 'failed' ? 'failed' : 'ready';

const isPossible =
  isCi || (!isSkipped && hasFfmpeg && ['heif-enc', 'heif-convert'].every((name) => findProgram(name) !== undefined));

it.skipIf(!isPossible).each(parts)(
  'files of people are shown as they are meant: $from to $to',
  {
    timeout: 900_000,
  },
  async ({ part }) => {
    const samples = new Map(part.map((sample) => [sample, sample.make()]));
    // While it begins, a page may move to its place in the round.
    const begin = { id: 'begin', kind: 'text', title: 'Begin', duration_seconds: 2 };
    const slides = part.map(({ name, kind }) => ({
      id: name,
      kind,
      media_url: `/media/${name}`,
      duration_seconds: kind === 'video' ? null : kind === 'pdf' ? 2 : 1,
    }));
    const content = (shown: object[]) => ({
      screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
      playlists: [{ id: 'main', fade_between_slides: false, slides: shown }],
    });
    // In `npm test` there is one display, at a box that did not take the upload.
    const boxes = await startSite({ content: content([begin, ...slides]), env }, isSoak ? 1 : 0);
    for (const [{ name }, bytes] of samples) {
      const { status } = await boxes[0].get(`/api/media/${name}`, { method: 'PUT', body: new Uint8Array(bytes) });
      expect(status, name).toBe(201);
    }
    const isReady = async (box: TestService): Promise<string[]> =>
      (
        await Promise.all(
          part.map(async (sample) => [sample.name, await stateOf(box, sample.name), expectedState(sample)]),
        )
      )
        .filter(([, state, expected]) => state !== expected)
        .map(([name, state]) => `${name} ${state}`);
    for (const box of boxes) await expect.poll(() => isReady(box), { timeout: 300_000, interval: 500 }).toEqual([]);
    for (const { name, rendition } of part) {
      const header = (await boxes[1].get(`/media/${name}`)).headers.get(renditionHeader);
      expect([name, header]).toEqual([name, rendition === 'failed' ? null : rendition]);
    }
    const shown = isSoak ? boxes : [boxes[1]];
    const judges = await Promise.all(shown.map(async (box) => watch(await openPlayer(box, 'lobby'), box, samples)));
    expect(await Promise.all(judges.map((judge) => judge.judge()))).toEqual(shown.map(() => []));
  },
);
