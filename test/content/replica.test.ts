/** The content as a document with a version: what counts as an edit, and what a box does with a received one. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Content, openContent } from '../../service/content/content.ts';
import { openLastKnownGood } from '../../service/content/last-known-good.ts';
import type { ContentDocument } from '../../service/contract/peers.ts';
import { editedDocument, versionOf } from '../../service/domain/document.ts';
import { patience } from '../support/observe.ts';
import { temporaryFolder } from '../support/service.ts';
import { contentContext } from './context.ts';
import { lobbyWith } from './samples.ts';

interface Box {
  dataDir: string;
  content: Content;
  path: string;
  write(title: string): void;
  text(): string;
  lost(): string[];
  restart(meanwhile?: () => void): Promise<void>;
}

const saying = (title: string): string => JSON.stringify(lobbyWith([{ kind: 'text', title }]));

/** A box's content, with nothing else of the box. */
const leading = { slides: () => [], onChange: () => {} };
const inserted = { now: Date.now, insertions: () => [], onChange: () => {} };
const secrets = { issues: () => [], publicWarnings: () => [] };

const openBox = async (nodeId: string, first?: string): Promise<Box> => {
  const dataDir = temporaryFolder();
  const path = join(dataDir, 'content.json');
  if (first !== undefined) writeFileSync(path, first);
  const open = async () => {
    const context = contentContext(dataDir, { nodeId });
    const lastKnownGood = await openLastKnownGood(context);
    const feeds = { follow() {}, fill: <Records>(records: Records) => records, onChange() {} };
    const content = await openContent(context, { lastKnownGood, feeds, leading, inserted, secrets });
    const close = async () => {
      await content.close();
      await lastKnownGood.close();
    };
    return { content, close };
  };
  let opened = await open();
  onTestFinished(() => opened.close());
  const box: Box = {
    dataDir,
    path,
    get content() {
      return opened.content;
    },
    write: (title) => writeFileSync(path, saying(title)),
    text: () => readFileSync(path, 'utf8'),
    lost: () =>
      readdirSync(dataDir)
        .filter((name) => name.startsWith('content.json.lost-'))
        .map((name) => readFileSync(join(dataDir, name), 'utf8')),
    restart: async (meanwhile = () => undefined) => {
      await opened.close();
      meanwhile();
      opened = await open();
    },
  };
  return box;
};

const counterOf = ({ content }: Box): number | undefined => content.document()?.counter;
const reach = (box: Box, counter: number) => expect.poll(() => counterOf(box), patience).toBe(counter);
const titleOf = ({ content }: Box) =>
  content
    .payload('lobby')
    ?.body.toString()
    .match(/"title":"(\w+)"/)?.[1];
const revisionOf = ({ content }: Box) => content.payload('lobby')?.revision;
const documentOf = ({ content }: Box): ContentDocument => {
  const document = content.document();
  if (document === null) throw new Error('there is no document');
  return document;
};

/** What another box would make of the content that this one has. */
const rival = (text: string, counter: number, nodeId: string, stamps: ContentDocument['stamps'] = []) =>
  editedDocument(null, { counter, nodeId, changedAt: '2026-06-01T08:00:00.000Z', stamps, text });

test('an edit increments the counter; touching the file and restarting do not', async () => {
  const box = await openBox('a', saying('one'));
  await reach(box, 1);
  box.write('two');
  await reach(box, 2);
  const before = documentOf(box);
  expect(before).toMatchObject({ nodeId: 'a', text: saying('two'), ancestors: [{ counter: 1, nodeId: 'a' }] });
  await box.restart(() => utimesSync(box.path, new Date(), new Date()));
  expect(documentOf(box)).toEqual(before);
  await box.restart(() => box.write('three'));
  await reach(box, 3);
  expect(titleOf(box)).toBe('three');
});

test('an edit that is not valid has no version', async () => {
  const box = await openBox('a', saying('one'));
  await reach(box, 1);
  const before = documentOf(box);
  writeFileSync(box.path, '{"screens":');
  await expect.poll(() => box.content.status().status, patience).toBe('invalid');
  expect(documentOf(box)).toEqual(before);
  await box.restart();
  expect(documentOf(box)).toEqual(before);
});

test('the demo has counter 0, and the first edit of it has counter 1', async () => {
  const box = await openBox('a');
  await reach(box, 0);
  writeFileSync(box.path, saying('mine'));
  await reach(box, 1);
});

test('without a stored document, the file is the first edit', async () => {
  const box = await openBox('a', saying('one'));
  box.write('two');
  await reach(box, 2);
  await box.restart(() => {
    for (const name of ['content.kept.json', 'content.kept.json.prev']) rmSync(join(box.dataDir, name));
  });
  await reach(box, 1);
  expect(documentOf(box)).toMatchObject({ text: saying('two'), ancestors: [] });
});

test('the winning document plays with the same revision, is written to the file, and survives a restart', async () => {
  const [a, b] = [await openBox('a', saying('one')), await openBox('b')];
  await reach(a, 1);
  a.write('two');
  await reach(a, 2);
  chmodSync(b.path, 0o664);
  expect(await b.content.accept(documentOf(a))).toEqual([]);
  const check = () => {
    expect(documentOf(b)).toEqual(documentOf(a));
    expect(titleOf(b)).toBe('two');
    expect(revisionOf(b)).toBe(revisionOf(a));
    expect(b.text()).toBe(a.text());
    expect(b.content.status().status).toBe('ok');
  };
  check();
  expect(statSync(b.path).mode & 0o777).toBe(0o664);
  await b.restart();
  await a.restart();
  check();
  // The demo was nobody's.
  expect(b.lost()).toEqual([]);

  b.write('three');
  await reach(b, 3);
  expect(documentOf(b).nodeId).toBe('b');
  expect(await a.content.accept(documentOf(b))).toEqual([]);
  expect(revisionOf(a)).toBe(revisionOf(b));
  expect(a.lost()).toEqual([]);
});

test('of two concurrent edits one plays on both boxes, and the other is backed up on its own box', async () => {
  const [a, b] = [await openBox('a', saying('one')), await openBox('b')];
  await reach(a, 1);
  await b.content.accept(documentOf(a));
  a.write('left');
  b.write('right');
  await reach(a, 2);
  await reach(b, 2);
  const [left, right] = [documentOf(a), documentOf(b)];
  await Promise.all([a.content.accept(right), b.content.accept(left)]);
  await Promise.all([a.content.accept(right), b.content.accept(left)]);
  expect([titleOf(a), titleOf(b)]).toEqual(['right', 'right']);
  expect(revisionOf(a)).toBe(revisionOf(b));
  expect([a.lost(), b.lost()]).toEqual([[saying('left')], []]);
  expect(await a.content.lost()).toHaveLength(1);
});

test('the same text from two boxes needs no backup, and has one revision', async () => {
  const [a, b] = [await openBox('a', saying('same')), await openBox('b', saying('same'))];
  await reach(a, 1);
  await reach(b, 1);
  await a.content.accept(documentOf(b));
  await b.content.accept(documentOf(a));
  expect(revisionOf(a)).toBe(revisionOf(b));
  expect([...a.lost(), ...b.lost()]).toEqual([]);
});

test('an edit that the box has not noticed yet gets a higher counter than the arriving document', async () => {
  const box = await openBox('a', saying('one'));
  await reach(box, 1);
  const theirs = rival(saying('theirs'), 7, 'b');
  box.content.observeCounter(7);
  box.write('mine');
  await box.content.accept(theirs);
  await reach(box, 8);
  expect(titleOf(box)).toBe('mine');
});

test('a file that is being written when a peer’s edit wins is backed up', async () => {
  const box = await openBox('a', saying('one'));
  await reach(box, 1);
  writeFileSync(box.path, '{"screens": [');
  await expect.poll(() => box.content.status().status, patience).toBe('invalid');
  // Nobody's edit takes nothing from anybody.
  expect(await box.content.accept(rival(saying('demo'), 0, 'b'))).toEqual([]);
  expect(box.text()).toBe('{"screens": [');
  const ancestors = [versionOf(box.content.document() as ContentDocument)];
  expect(await box.content.accept({ ...rival(saying('theirs'), 2, 'b'), ancestors })).toEqual([]);
  expect([box.text(), box.lost()]).toEqual([saying('theirs'), ['{"screens": [']]);
  expect(box.content.status().status).toBe('ok');
});

test('a winning document that is invalid is refused with its issues', async () => {
  const box = await openBox('a', saying('one'));
  await reach(box, 1);
  const before = documentOf(box);
  const issues = await box.content.accept(rival('{"screens": [{}]}', 9, 'b'));
  expect(issues[0]).toMatchObject({ path: 'screens[0].name' });
  expect([documentOf(box), box.text(), box.lost()]).toEqual([before, saying('one'), []]);
});

test('a box that can’t rewrite the file keeps its own content', async () => {
  const box = await openBox('a', saying('one'));
  await reach(box, 1);
  // No file is renamed over a folder.
  rmSync(box.path);
  mkdirSync(join(box.path, 'full'), { recursive: true });
  await expect(box.content.accept(rival(saying('theirs'), 9, 'b'))).rejects.toThrow(/rename/);
  expect([titleOf(box), counterOf(box)]).toEqual(['one', 1]);
  expect(existsSync(join(box.path, 'full'))).toBe(true);
});

test('backups stay while a winner that cannot be written is tried again and again', async () => {
  const box = await openBox('a', saying('one'));
  await reach(box, 1);
  for (const counter of [2, 3, 4]) await box.content.accept(rival(saying(`t${counter}`), counter, 'b'));
  const before = box.lost();
  expect(before).toEqual(['one', 't2', 't3'].map(saying));
  rmSync(box.path);
  mkdirSync(join(box.path, 'full'), { recursive: true });
  const winner = rival(saying('theirs'), 9, 'c');
  for (let times = 0; times < 12; times += 1) await expect(box.content.accept(winner)).rejects.toThrow(/rename/);
  expect(box.lost()).toEqual([...before, saying('t4')]);
});

test('the ten newest backups are kept', async () => {
  const box = await openBox('a', saying('one'));
  await reach(box, 1);
  for (let counter = 2; counter < 15; counter += 1)
    await box.content.accept(rival(saying(`t${counter}`), counter, 'b'));
  expect(box.lost()).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12, 13].map((counter) => saying(`t${counter}`)));
});
