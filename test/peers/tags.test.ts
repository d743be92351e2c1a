/** Tags of screens, between boxes that know them and boxes that do not. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import type { SiteOverview } from '../../service/contract/console/site.ts';
import { type ContentDocument, contentDocument, type PeerState } from '../../service/contract/peers.ts';
import { documentHash } from '../../service/domain/document.ts';
import { hello, lobbyWith } from '../content/samples.ts';
import { patience } from '../support/observe.ts';
import { secretSettings, withAndWithoutSecret } from '../support/operator.ts';
import type { TestService } from '../support/service.ts';
import { startSite } from './support.ts';

const content = {
  ...lobbyWith([hello]),
  screens: [
    { name: 'Lobby', slug: 'lobby', playlist_id: 'welcome', tags: ['Erdgeschoß', 'public'] },
    { name: 'Bar', slug: 'bar' },
  ],
};

describe.each(withAndWithoutSecret)('%s', (_, secret) => {
  const read = async <T>({ url, get }: TestService, path: string): Promise<T> => {
    const headers = secret === null ? {} : signRequest({ secret, method: 'GET', url: url + path });
    return (await (await get(path, { headers })).json()) as T;
  };

  test('tags replicate and stand in the overview of every box; an older box receives content without them', async () => {
    const [one, other] = await startSite({ env: secretSettings(secret) });
    one.writeContent(content);
    for (const box of [one, other]) {
      const tags = async () =>
        (await read<SiteOverview>(box, '/console/api/site')).screens.map((screen) => [screen.screen.slug, screen.tags]);
      await expect.poll(tags, patience).toEqual([
        ['lobby', ['Erdgeschoß', 'public']],
        ['bar', []],
      ]);
    }
    expect(readFileSync(join(other.dataDir, 'content.json'), 'utf8')).toBe(JSON.stringify(content));

    const whole = await read<ContentDocument>(one, '/api/peers/content?knows=tags');
    const reduced = contentDocument.parse(await read(one, '/api/peers/content'));
    expect(JSON.parse(whole.text)).toEqual(content);
    expect(reduced.text).not.toContain('tags');
    expect(reduced.sha256).toBe(documentHash(reduced));
    const { counter, nodeId, sha256 } = reduced;
    expect((await read<PeerState>(one, '/api/peers/state')).content).toEqual({ counter, nodeId, sha256 });
    expect((await read<PeerState>(other, '/api/peers/state')).content).toEqual({ counter, nodeId, sha256 });
    expect((await read<PeerState>(one, '/api/peers/state?knows=tags')).content?.sha256).toBe(whole.sha256);
  });
});
