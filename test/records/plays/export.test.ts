/** Exports of as many plays as a box keeps. */
import { createWriteStream, mkdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { expect, test } from 'vitest';
import { startHeadless } from '../../platform/options/process.ts';
import { temporaryFolder } from '../../support/service.ts';
import { repeats } from '../../support/soak.ts';
import { playAgo } from './pages.ts';

const count = repeats(30_000, 300_000, 'SIGNAGE_TEST_PLAYS');
const PER_DAY = 30_000;
/** Of the heap; the plays of `npm test` alone are some 18 MB as text. */
const MAX_HEAP_MB = 64;

/** Writes plays of several days in the order in which four screens end them; one play in a hundred is hours late. */
const writePlays = async (folder: string): Promise<void> => {
  mkdirSync(folder);
  for (let day = 1; day * PER_DAY <= count; day += 1) {
    const name = `${playAgo(day * 86_400).started_at.slice(0, 10)}.jsonl`;
    const midnight = Date.parse(name.slice(0, 10));
    async function* lines() {
      for (let index = 0; index < PER_DAY; index += 1) {
        const moved = index % 100 === 0 ? (index * 7_919) % PER_DAY : index ^ 3;
        const started_at = new Date(midnight + moved * 2_500).toISOString();
        const { play_id, slide_id, slide_title, kind, media_url, ...rest } = playAgo(0, { started_at });
        const known = { site: 'default', node_id: 'a', device_id: null, client_name: 'Door', screen: 'lobby' };
        const medium = {
          media_url: '/media/a-picture-of-the-harbour-in-the-morning.jpg',
          media_sha256: 'ab'.repeat(32),
        };
        const play = { play_id, ...known, slide_id, slide_title, kind, ...medium, ...rest };
        yield `${JSON.stringify(play)}\n`;
      }
    }
    await pipeline(lines, createWriteStream(join(folder, name)));
  }
};

/** Counts the plays of an export, and those that are out of order, without keeping them. */
const readExport = (url: string): Promise<{ plays: number; misplaced: number; bytes: number }> =>
  new Promise((resolve, reject) => {
    let [plays, misplaced, bytes, last, rest] = [0, 0, 0, '', ''];
    const asking = request(url, (response) => {
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        bytes += chunk.length;
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const start = /"started_at":"([^"]*)"|,(\d{4}-\d\d-\d\dT[\d:.]+Z),/.exec(line)?.slice(1).find(Boolean);
          if (start === undefined) continue;
          plays += 1;
          if (start < last) misplaced += 1;
          last = start;
        }
      });
      response.on('end', () => resolve({ plays, misplaced, bytes }));
      response.on('error', reject);
    });
    asking.on('error', reject);
    asking.end();
  });

test(`${count} plays are exported in the order of their start with a heap of ${MAX_HEAP_MB} MB, from another box too`, {
  timeout: 120_000 + count,
}, async ({ annotate }) => {
  const dataDir = temporaryFolder();
  await writePlays(join(dataDir, 'plays'));
  const bounded = { NODE_OPTIONS: `--max-old-space-size=${MAX_HEAP_MB}`, SIGNAGE_LOG_LEVEL: 'silent' };
  const box = startHeadless({ ...bounded, SIGNAGE_DATA_DIR: dataDir });
  const url = await box.ready();
  const startedAt = performance.now();
  const json = await readExport(`${url}/console/api/plays`);
  const seconds = (performance.now() - startedAt) / 1000;
  expect(json).toMatchObject({ plays: count, misplaced: 0 });
  const csv = await readExport(`${url}/console/api/plays?format=csv`);
  expect(csv).toMatchObject({ plays: count, misplaced: 0 });

  const other = startHeadless({ ...bounded, SIGNAGE_DATA_DIR: temporaryFolder(), SIGNAGE_PEERS: url });
  const remote = await readExport(`${await other.ready()}/console/api/plays`);
  expect(remote).toEqual(json);
  for (const { child } of [box, other]) expect(child.exitCode).toBe(null);
  await annotate(`${Math.round(json.bytes / 1e6)} MB of JSON in ${seconds.toFixed(1)} s`);
});
