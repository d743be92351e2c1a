/** Files with random damage: whatever a file is, the service answers, goes on, and stays small, and so do its children. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { MediaList } from '../../service/contract/media.ts';
import { usageOf } from '../fuzz/process.ts';
import { startHeadless } from '../platform/options/process.ts';
import { hasFfmpeg } from '../support/media.ts';
import { temporaryFolder } from '../support/service.ts';
import { isSoak, repeats, walk } from '../support/soak.ts';
import { documents } from './corpus/documents.ts';
import { films } from './corpus/films.ts';
import { pictures } from './corpus/pictures.ts';

const files = repeats(5, 2_000, 'SIGNAGE_TEST_MUTATIONS');
const seed = Number(process.env.SIGNAGE_TEST_SEED ?? 1);
/** Files that are there at a time. */
const BATCH = 40;
/** Resident memory, MiB: of the service beyond what it takes at its start, and of each of its children. */
const MOST_GROWTH = 200;
const MOST_CHILD = 1_200;

const few = ['plain.mp4', 'desk.mov', 'photo.jpg', 'scan.tif', 'menu.pdf'];
const large = ['wall.mp4', 'huge.jpg', 'wide.jpg', 'turned-huge.jpg', 'poster.png', 'book.pdf', 'bomb.png'];
const originals = [...films, ...pictures, ...documents].filter(({ name }) =>
  isSoak ? !large.includes(name) : few.includes(name),
);

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
const randomFrom = (start: number) => {
  let state = start;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** Damages a file; most often near its beginning, where its sizes stand. */
const mutate = (file: Buffer, random: () => number): Buffer => {
  const any = (most: number): number => Math.floor(random() * most);
  const place = (): number => any(random() < 0.6 ? Math.min(file.length, 1_024) : file.length);
  const ways: (() => Buffer)[] = [
    () => {
      const copy = Buffer.from(file);
      for (let count = 1 + any(20); count > 0; count--) copy[place()] = any(256);
      return copy;
    },
    () => {
      const copy = Buffer.from(file);
      for (let count = 1 + any(4); count > 0; count--) {
        const value = random() < 0.5 ? 0 : 255;
        copy.fill(value, place(), Math.min(file.length, place() + any(16)));
      }
      return copy;
    },
    () => file.subarray(0, any(file.length)),
    () => {
      const [from, to] = [place(), place()];
      return Buffer.concat([file.subarray(0, from), file.subarray(to, to + any(4_096)), file.subarray(from)]);
    },
    () => {
      const at = place();
      return Buffer.concat([file.subarray(0, at), file.subarray(at + any(256))]);
    },
    () => {
      const copy = Buffer.from(file);
      const at = Math.min(place(), copy.length - 4);
      if (at >= 0) copy.writeUInt32BE([0x7fffffff, 0xffffffff, 0x80000000, 1][any(4)] ?? 0, at);
      return copy;
    },
  ];
  return ways[any(ways.length)]?.() ?? file;
};

/** Resident memory of the largest child of a process, with all its own, MiB. */
const childrenOf = (pid: number): number => {
  const parents = new Map<number, { parent: number; mebibytes: number }>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8');
      const of = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
      parents.set(Number(name), { parent: of('PPid'), mebibytes: of('VmRSS') / 1024 });
    } catch {
      // It has ended.
    }
  }
  const sumOf = (of: number): number =>
    [...parents].reduce(
      (sum, [each, { parent }]) => (parent === of ? sum + sumOf(each) : sum),
      parents.get(of)?.mebibytes ?? 0,
    );
  return Math.max(0, ...[...parents].flatMap(([each, { parent }]) => (parent === pid ? [sumOf(each)] : [])));
};

it.skipIf(!hasFfmpeg || process.platform !== 'linux')(
  `${files} damaged files are taken, and nothing else is`,
  { ...walk, timeout: 60_000 + files * 10_000 },
  async () => {
    const dataDir = temporaryFolder();
    writeFileSync(join(dataDir, 'content.json'), JSON.stringify({ screens: [], playlists: [] }));
    const headless = startHeadless({ SIGNAGE_DATA_DIR: dataDir, SIGNAGE_DISCOVERY: 'off' });
    const url = await headless.ready();
    const pid = headless.child.pid ?? 0;
    const before = usageOf(pid).megabytes;
    const most = { service: before, child: 0 };
    const timer = setInterval(() => {
      most.service = Math.max(most.service, usageOf(pid).megabytes);
      most.child = Math.max(most.child, childrenOf(pid));
    }, 100);
    const counts = new Map<string, number>();
    const ask = async (path: string, init?: RequestInit): Promise<{ status: number; text: string }> => {
      const response = await fetch(url + path, init);
      const { status } = response;
      const key = `${init?.method ?? 'GET'} ${status}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      const text = await response.text();
      const code = status < 500 ? null : JSON.parse(text).error.code;
      expect([null, 'media_not_ready', 'insufficient_storage'], `${path} ${status} ${text.slice(0, 500)}`).toContain(
        code,
      );
      return { status, text };
    };
    const random = randomFrom(seed);
    const made = originals.map(({ name, make }) => ({ name, bytes: make() }));
    try {
      for (let done = 0; done < files; done += BATCH) {
        const names: string[] = [];
        for (let at = done; at < Math.min(files, done + BATCH); at++) {
          const { name, bytes } = made[Math.floor(random() * made.length)] ?? { name: '', bytes: Buffer.alloc(0) };
          const path = `/api/media/${at}-${name}`;
          names.push(`${at}-${name}`);
          expect((await ask(path, { method: 'PUT', body: new Uint8Array(mutate(bytes, random)) })).status).toBe(201);
          await ask(`/media/${at}-${name}`);
        }
        const isOver = async (): Promise<boolean> => {
          const { media } = JSON.parse((await ask('/console/api/media')).text) as MediaList;
          return media.every(({ rendition: { state } }) => state !== 'queued' && state !== 'converting');
        };
        while (!(await isOver())) await pause(200);
        for (const name of names) {
          await ask(`/media/${name}`);
          await ask(`/console/api/media/${name}/thumbnail`);
          await ask(`/api/media/${name}`, { method: 'DELETE' });
        }
        expect((await ask('/healthz')).status).toBe(200);
      }
    } finally {
      clearInterval(timer);
      process.stdout.write(`${JSON.stringify({ files, seed, before, ...most, ...Object.fromEntries(counts) })}\n`);
    }
    expect(headless.child.exitCode).toBeNull();
    expect(most.service - before).toBeLessThan(MOST_GROWTH);
    expect(most.child).toBeLessThan(MOST_CHILD);
  },
);
