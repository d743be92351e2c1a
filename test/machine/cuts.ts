/** Power cuts under load: what was acknowledged is there afterwards, and the picture is back without a hand. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import { bind, type Machine, patience } from './machine.ts';

/** What the box has acknowledged. */
interface Ledger {
  /** Device ids. */
  bindings: string[];
  /** SHA-256 of uploads, by name. */
  uploads: Map<string, string>;
  /** The titles of slides that were published. */
  titles: string[];
}

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=',
  'base64',
);
const json = { 'Content-Type': 'application/json' };

/** Binds, uploads and edits until the power is gone. */
const load = async (machine: Machine, ledger: Ledger, isOn: () => boolean): Promise<void> => {
  const bindings = async (): Promise<void> => {
    while (isOn()) {
      const id = randomUUID();
      if (await bind(machine, id, `Hall ${ledger.bindings.length}`)) ledger.bindings.push(id);
    }
  };
  const uploads = async (): Promise<void> => {
    while (isOn()) {
      // A picture, and bytes after its end that tell one from the other.
      const [name, body] = [`cut-${randomUUID()}.png`, Buffer.concat([png, randomBytes(64 * 1024)])];
      const { status } = await machine.request(`/api/media/${name}`, {
        method: 'PUT',
        headers: { 'Content-Type': 'image/png' },
        body,
      });
      if (status >= 200 && status < 300) ledger.uploads.set(name, createHash('sha256').update(body).digest('hex'));
    }
  };
  const edits = async (): Promise<void> => {
    while (isOn()) {
      const { status, body } = await machine.request('/console/api/content');
      if (status !== 200) continue;
      const { sha256, content } = JSON.parse(body);
      const title = `Edit ${ledger.titles.length}`;
      content.playlists[0].slides[0].title = title;
      const headers = { ...json, 'If-Match': `"${sha256}"` };
      const answer = await machine.request('/console/api/content', {
        method: 'PUT',
        headers,
        body: JSON.stringify(content),
      });
      if (answer.status === 200) ledger.titles.push(title);
    }
  };
  await Promise.all([bindings(), uploads(), edits()]);
};

/** @returns what was acknowledged and is not there */
const missing = async (machine: Machine, { bindings, uploads, titles }: Ledger): Promise<string[]> => {
  const lost: string[] = [];
  for (const id of bindings) {
    const { body } = await machine.request(`/api/onboarding/status?deviceId=${id}`);
    if (!JSON.parse(body).onboarded) lost.push(id);
  }
  const { media }: { media: { filename: string; sha256: string }[] } = JSON.parse(
    (await machine.request('/console/api/media')).body,
  );
  const there = new Map(media.map(({ filename, sha256 }) => [filename, sha256]));
  for (const [name, sha256] of uploads) if (there.get(name) !== sha256) lost.push(name);
  const { content } = JSON.parse((await machine.request('/console/api/content')).body);
  // One that was not acknowledged may be there.
  const [, number = '-1'] = /^Edit (\d+)$/.exec(content.playlists[0].slides[0].title) ?? [];
  if (Number(number) < titles.length - 1) lost.push(titles.at(-1) ?? '');
  return lost;
};

/** Cuts the power this often. @returns how much was acknowledged */
export const cutPower = async (machine: Machine, times: number): Promise<number> => {
  const ledger: Ledger = { bindings: [], uploads: new Map(), titles: [] };
  for (let cut = 1; cut <= times; cut += 1) {
    let isOn = true;
    const loading = load(machine, ledger, () => isOn);
    await wait(5_000 + Math.random() * 15_000);
    await machine.cutPower();
    isOn = false;
    await loading;
    await machine.powerOn();
    await expect.poll(async () => (await machine.request('/healthz')).status, patience).toBe(200);
    expect(await missing(machine, ledger), `after cut ${cut}`).toEqual([]);
    await machine.plays('cut');
    const count = ledger.bindings.length + ledger.uploads.size + ledger.titles.length;
    console.log(
      `cut ${cut} of ${times}: ${count} acknowledged, none lost, playing after ${Math.round(machine.seconds())} s`,
    );
  }
  return ledger.bindings.length + ledger.uploads.size + ledger.titles.length;
};
