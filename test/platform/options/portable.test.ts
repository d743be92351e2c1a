/** Which settings a backup holds, and what a restore makes of them. */
import { expect, it } from 'vitest';
import { backupConfig, strippedSettings, withPortable } from '../../../service/platform/options/portable.ts';

it.each<[what: string, value: unknown, kept: unknown]>([
  ['an address', 'https://u:p@hook.example/x?a=1,2', 'https://hook.example/x?a=1,2'],
  ['a password with a comma', 'https://u:p,q@hook.example/', 'https://hook.example/'],
  ['a list', 'http://u:p@a.example/, http://u:p,q@b.example/', 'http://a.example/,http://b.example/'],
  ['an array', ['http://u:p@a.example/', 'http://b.example'], ['http://a.example/', 'http://b.example']],
  ['what has none', 'http://a.example,http://b.example', 'http://a.example,http://b.example'],
])('keeps %s without its password, and the box that has it loses nothing', (_, peers, kept) => {
  const config = { SIGNAGE_PEERS: peers, kiosk: { rotation: 90 } };
  const backup = backupConfig(config);
  expect(backup['SIGNAGE_PEERS']).toEqual(kept);
  const stripped = strippedSettings(config);
  expect(stripped.length > 0).toBe(JSON.stringify(kept) !== JSON.stringify(peers));
  expect(withPortable(config, backup, stripped)).toMatchObject({ config: { peers }, bare: [] });
  const elsewhere = withPortable({ peers: [] }, backup, stripped);
  expect(elsewhere).toMatchObject({ config: { peers: kept }, bare: stripped.map(() => 'peers') });
});
