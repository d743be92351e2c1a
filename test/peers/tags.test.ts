/** Tags of screens, between boxes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import type { SiteOverview } from '../../service/contract/console/site.ts';
import { hello, lobbyWith } from '../content/samples.ts';
import { patience } from '../support/observe.ts';
import { secretModes, secretSettings } from '../support/operator.ts';
import type { TestService } from '../support/service.ts';
import { startSite } from './support.ts';

const content = {
  ...lobbyWith([hello]),
  screens: [
    { name: 'Lobby', slug: 'lobby', playlist_id: 'welcome', tags: ['Erdgeschoß', 'public'] },
    { name: 'Bar', slug: 'bar' },
  ],
};

describe.each(secretModes)('%s', (_, secret) => {
  const read = async <T>({ url, get }: TestService, path: string): Promise<T> => {
    const headers = secret === null ? {} : signRequest({ secret, method: 'GET', url: url + path });
    return (await (await get(path, { headers })).json()) as T;
  };

  test('tags replicate and stand in the overview of every box', async () => {
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
  });
});
