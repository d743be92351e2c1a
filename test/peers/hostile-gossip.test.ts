/** What boxes tell each other by gossip: from a faulty box, and where nothing has changed. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import { patience } from '../support/observe.ts';
import { secretModes, secretSettings } from '../support/operator.ts';
import type { TestService } from '../support/service.ts';
import { aliveAt, startSite } from './support.ts';

const digest = '0'.repeat(64);
const sender = { from: randomUUID(), port: 9 };
const members = '0'.repeat(128);
const many = <Item>(count: number, make: () => Item): Item[] => Array.from({ length: count }, make);
const entry = () => [randomUUID(), 'http://198.51.100.7:9', 1] as const;

/** Path, body, and the status that it is answered with. */
const malformed: [string, object, number][] = [
  ['gossip', {}, 400],
  ['gossip', { ...sender, digest: 'x', members }, 400],
  ['gossip', { ...sender, port: 0, digest: '0'.repeat(16), members }, 400],
  ['gossip', { ...sender, digest: '0'.repeat(16), members: 'f'.repeat(127) }, 400],
  ['members', { wanted: many(101, randomUUID), records: [], entries: [] }, 400],
  ['members', { wanted: [], records: [{ nodeId: 'x', seq: -1, media: digest }], entries: [] }, 400],
  ['members', { wanted: [], records: [], entries: many(1_002, entry) }, 413],
  ['members', { wanted: [], records: [], entries: [['x', 'y', 'z']] }, 400],
  ['news', { ...sender, targets: many(1_001, randomUUID) }, 400],
  ['news', { ...sender, targets: [], content: { counter: -1, nodeId: 'b', sha256: digest } }, 400],
  ['bindings/differing', { digests: '0' }, 400],
];

describe.each(secretModes)('%s', (_, secret) => {
  const ask = (box: TestService, path: string, body: object) => {
    const text = JSON.stringify(body);
    const url = `${box.url}/api/peers/${path}`;
    const credentials = secret === null ? {} : signRequest({ secret, method: 'POST', url, body: text });
    return box.post(`/api/peers/${path}`, text, credentials);
  };
  test('malformed and endless lists of a faulty box are refused, and change nothing', async () => {
    const [box] = await startSite({ env: secretSettings(secret) });
    for (const [path, body, status] of malformed) {
      expect([path, (await ask(box, path, body)).status]).toEqual([path, status]);
    }
    expect(await aliveAt(box)).toBe(1);
  });

  test('the state of a box is answered with 304 while nothing but its time has changed', async () => {
    const [box] = await startSite({ env: secretSettings(secret) });
    const ask = (etag = '') => {
      const url = `${box.url}/api/peers/state`;
      const headers = secret === null ? {} : signRequest({ secret, method: 'GET', url });
      return box.get('/api/peers/state', { headers: { ...headers, 'If-None-Match': etag } });
    };
    let etag = '';
    // Its own start may still be news.
    const askTwice = async () => {
      etag = (await ask()).headers.get('ETag') ?? '';
      return (await ask(etag)).status;
    };
    await expect.poll(askTwice, patience).toBe(304);
    const body = { deviceId: 'd1', clientName: 'Desk', screenSlug: 'lobby' };
    const signed = (path: string) =>
      secret === null ? {} : signRequest({ secret, method: 'POST', url: box.url + path, body: JSON.stringify(body) });
    expect((await box.post('/api/onboarding', body, signed('/api/onboarding'))).status).toBe(200);
    const changed = await ask(etag);
    expect(changed.status).toBe(200);
    expect(changed.headers.get('ETag')).not.toBe(etag);
  });
});
