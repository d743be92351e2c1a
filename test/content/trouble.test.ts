/** Valid content that can't be loaded because of a system error: reported, while the previous content plays. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { openContent } from '../../service/content/content.ts';
import { openLastKnownGood } from '../../service/content/last-known-good.ts';
import { editedDocument } from '../../service/domain/document.ts';
import { patience } from '../support/observe.ts';
import { temporaryFolder } from '../support/service.ts';
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

const leading = { slides: () => [], onChange: () => {} };
const inserted = { now: Date.now, insertions: () => [], onChange: () => {} };
const secrets = { issues: () => [], publicWarnings: () => [] };

test("a peer's document that could not be stored plays, and is stored when it is passed in again", async () => {
  const dataDir = temporaryFolder();
  const saying = (title: string): string => JSON.stringify(lobbyWith([{ kind: 'text', title }]));
  writeFileSync(join(dataDir, 'content.json'), saying('one'));
  const context = contentContext(dataDir);
  const durable = await openLastKnownGood(context);
  let isFull = false;
  const lastKnownGood = {
    read: durable.read,
    update: async (change: Parameters<typeof durable.update>[0]) => {
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
  const changedAt = '2026-06-01T08:00:00.000Z';
  const theirs = editedDocument(null, { counter: 7, nodeId: 'b', changedAt, stamps: [], text: saying('two') });
  isFull = true;
  expect(await content.accept(theirs)).toEqual([]);
  expect(String(content.payload('lobby')?.body)).toContain('two');
  expect(content.document()?.counter).not.toBe(7);
  isFull = false;
  expect(await content.accept(theirs)).toEqual([]);
  expect(content.document()).toEqual(theirs);
});
