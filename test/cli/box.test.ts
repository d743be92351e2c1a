/** `signage box`: actions on the machine of a box, and the token of the box itself. */
import { truncateSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { shareTestService } from '../support/service.ts';
import { signageHere } from './support.ts';

describe('signage box', () => {
  const box = shareTestService();
  const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    signageHere(['--box', box().url, 'box', ...args], env);

  test('the token of this machine opens what ends the player, and is sent to this machine alone', async () => {
    const far = await run([hostname(), 'reboot']);
    expect([far.code, far.stderr]).toEqual([4, expect.stringContaining('taken from the box itself alone')]);
    const near = await run([hostname(), 'reboot'], { SIGNAGE_DATA_DIR: box().dataDir });
    expect([near.code, near.stdout]).toEqual([1, expect.stringContaining('without displays')]);
  });

  test('what is no order ends before anything is sent', async () => {
    for (const args of [['explode'], ['volume'], ['volume', '101'], ['reset'], ['reboot', 'now'], []]) {
      expect([args, (await run([hostname(), ...args])).code]).toEqual([args, 2]);
    }
    expect((await run(['nobody', 'identify'])).code).toBe(3);
    const wrong = await run([hostname(), 'reset', 'another'], { SIGNAGE_DATA_DIR: box().dataDir });
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('must repeat the name')]);
  });

  test('what is backed up is restored from the box itself, and a damaged file is refused', async () => {
    const file = join(box().dataDir, 'box.tar');
    const here = { SIGNAGE_DATA_DIR: box().dataDir };
    const onBox = (args: readonly string[]) => signageHere(['--box', box().url, ...args], here);
    expect((await signageHere(['--box', box().url, 'backup', file], {})).code).toBe(4);
    expect((await onBox(['backup', file])).code).toBe(0);
    const restored = await onBox(['restore', file, '--json']);
    expect([restored.code, JSON.parse(restored.stdout)]).toEqual([0, expect.objectContaining({ bindings: 0 })]);
    truncateSync(file, 3_000);
    expect([(await onBox(['restore', file])).code, (await onBox(['restore', '/nowhere.tar'])).code]).toEqual([1, 2]);
  });

  test('what the hardware does not confirm ends as degraded, with the answer of the box', async () => {
    const shown = await run([hostname(), 'identify', '--json']);
    expect([shown.code, JSON.parse(shown.stdout)]).toEqual([
      5,
      expect.objectContaining({ result: 'unknown', state: 0 }),
    ]);
  });
});
