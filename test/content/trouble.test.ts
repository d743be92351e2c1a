/** Valid content that can't be loaded because of a system error: reported, while the previous content plays. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openContent } from '../../service/content/content.ts';
import { openLastKnownGood } from '../../service/content/last-known-good.ts';
import { editedDocument } from '../../service/domain/document.ts';
import { systemDisk } from '../../service/platform/store/disk.ts';
import { patience } from '../support/observe.ts';
import { temporaryFolder } from '../support/service.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { contentContext } from './context.ts';
import { lobbyWith } from './samples.ts';

test.each(['at the start', 'after a change'])(
  'a system error %s is in the log and in the status until the content loads',
  async (when) => {
    const dataDir = temporaryFolder();
    const write = (title: string): void =>
      writeFileSync(join(dataDir, 'content.json'), JSON.stringify(lobbyWith([{ kind: 'text', title }])));
    const lines: string[] = [];
    const log = pino({ level: 'error' }, { write: (line) => lines.push(line) });
    let isBroken = when === 'at the start';
    const feeds = {
      follow: () => {
        if (isBroken) throw new Error('no more room');
      },
      fill: <Records>(records: Records) => records,
      onChange: () => undefined,
    };
    write('one');
    const context = contentContext(dataDir, { log });
    const lastKnownGood = await openLastKnownGood(context);
    const content = await openContent(context, { lastKnownGood, feeds, leading, inserted, secrets });
    onTestFinished(async () => {
      await content.close();
      await lastKnownGood.close();
    });
    if (!isBroken) {
      isBroken = true;
      write('two');
    }
    await expect.poll(content.status, patience).toEqual({
      status: 'invalid',
      errors: [{ path: '', message: 'content.json could not be loaded: no more room' }],
    });
    expect(lines.join('')).toContain('no more room');
    isBroken = false;
    write('three');
    await expect.poll(content.status, patience).toEqual({ status: 'ok', errors: [] });
    expect(String(content.payload('lobby')?.body)).toContain('three');
  },
);

test('a publication on a full disk is refused for want of room, and changes nothing', async () => {
  const dataDir = temporaryFolder();
  const [before, after] = ['one', 'two'].map((title) => JSON.stringify(lobbyWith([{ kind: 'text', title }])));
  writeFileSync(join(dataDir, 'content.json'), before ?? '');
  const context = contentContext(dataDir);
  const lastKnownGood = await openLastKnownGood(context);
  const feeds = { follow: () => {}, fill: <Records>(records: Records) => records, onChange: () => {} };
  const content = await openContent(context, { lastKnownGood, feeds, leading, inserted, secrets });
  onTestFinished(async () => {
    await content.close();
    await lastKnownGood.close();
  });
  const reading = content.validate(JSON.parse(after ?? ''));
  if (!reading.ok) throw new Error('the content is invalid');
  const publication = { text: after ?? '', content: reading.content, isExpected: () => true, operator: null };
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  const open = vi.spyOn(systemDisk, 'open').mockRejectedValue(full);
  onTestFinished(() => open.mockRestore());
  await expect(content.publish(publication)).rejects.toMatchObject({ code: 'insufficient_storage', status: 507 });
  expect(content.playing()?.text).toBe(before);
  open.mockRestore();
  expect((await content.publish(publication)).text).toBe(after);
});

const leading = { slides: () => [], onChange: () => {} };
const inserted = { now: Date.now, insertions: () => [], onChange: () => {} };
const secrets = { issues: () => [], publicWarnings: () => [] };

test.each(['published', 'saved as a file', "a peer's"])(
  'content that is %s while the disk is full plays, and is stored once there is room',
  async (how) => {
    const dataDir = temporaryFolder();
    const saying = (title: string): string => JSON.stringify(lobbyWith([{ kind: 'text', title }]));
    writeFileSync(join(dataDir, 'content.json'), saying('one'));
    const context = contentContext(dataDir);
    const durable = await openLastKnownGood(context);
    let isFull = false;
    let attempts = 0;
    const lastKnownGood = {
      read: durable.read,
      update: async (change: Parameters<typeof durable.update>[0]) => {
        attempts += 1;
        if (isFull) throw new Error('no more room');
        await durable.update(change);
      },
    };
    const feeds = { follow: () => {}, fill: <Records>(records: Records) => records, onChange: () => {} };
    const content = await openContent(context, { lastKnownGood, feeds, leading, inserted, secrets });
    onTestFinished(async () => {
      await content.close();
      await durable.close();
    });
    await expect.poll(() => content.document()?.text, patience).toBe(saying('one'));
    const changedAt = '2026-06-01T08:00:00.000Z';
    const text = saying('two');
    const theirs = editedDocument(null, { counter: 7, nodeId: 'b', changedAt, stamps: [], text });
    isFull = true;
    if (how === 'published') {
      const reading = content.validate(JSON.parse(text));
      if (!reading.ok) throw new Error('the content is invalid');
      await content.publish({ text, content: reading.content, isExpected: () => true, operator: null });
    } else if (how === "a peer's") expect(await content.accept(theirs)).toEqual([]);
    else writeFileSync(join(dataDir, 'content.json'), text);
    await expect.poll(() => String(content.payload('lobby')?.body), patience).toContain('two');
    const before = attempts;
    // The event of the file is over.
    await expect.poll(() => attempts, patience).toBeGreaterThan(before + 2);
    expect(content.document()?.text).toBe(saying('one'));
    let isTold = false;
    content.onDocument(() => {
      isTold = true;
    });
    isFull = false;
    await expect.poll(() => content.document()?.text, patience).toBe(text);
    expect(isTold).toBe(true);
    if (how === "a peer's") expect(content.document()).toEqual(theirs);
  },
);

const smallDisk = mountSmallDisk(2);

test.skipIf(smallDisk === null).each(['published', "a peer's"])(
  'content that is %s takes the space that is set aside where the disk is full (needs the right to mount one)',
  async (how) => {
    const dataDir = mkdtempSync(join(String(smallDisk), 'data-'));
    const fileOf = (name: string): string => join(dataDir, name);
    const saying = (title: string): string => JSON.stringify(lobbyWith([{ kind: 'text', title }]));
    writeFileSync(fileOf('content.json'), saying('one'));
    writeFileSync(fileOf('reserve'), Buffer.alloc(512 * 1024));
    const release = async (): Promise<void> => rmSync(fileOf('reserve'), { force: true });
    const context = { ...contentContext(dataDir), reserve: { release } };
    const durable = await openLastKnownGood(context);
    const feeds = { follow: () => {}, fill: <Records>(records: Records) => records, onChange: () => {} };
    const content = await openContent(context, { lastKnownGood: durable, feeds, leading, inserted, secrets });
    onTestFinished(async () => {
      await content.close();
      await durable.close();
      rmSync(dataDir, { recursive: true });
    });
    await expect.poll(() => content.document()?.text, patience).toBe(saying('one'));
    const fill = (): void => {
      for (;;) appendFileSync(fileOf('filler'), Buffer.alloc(4096));
    };
    expect(fill).toThrow(/ENOSPC/);
    const text = saying('two');
    if (how === 'published') {
      const reading = content.validate(JSON.parse(text));
      if (!reading.ok) throw new Error('the content is invalid');
      await content.publish({ text, content: reading.content, isExpected: () => true, operator: null });
    } else {
      const changedAt = '2026-06-01T08:00:00.000Z';
      const theirs = editedDocument(null, { counter: 7, nodeId: 'b', changedAt, stamps: [], text });
      expect(await content.accept(theirs)).toEqual([]);
      expect(await content.lost()).toHaveLength(1);
    }
    expect(content.document()?.text).toBe(text);
    expect(readFileSync(fileOf('content.json'), 'utf8')).toBe(text);
  },
);
