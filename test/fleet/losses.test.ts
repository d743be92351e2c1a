/** Thousands of plays over a hub that is killed, frozen, filled, emptied and restored from an older backup. */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { describe, expect, test } from 'vitest';
import { openHub } from '../../service/cli/fleet/hub.ts';
import { lobby } from '../content/samples.ts';
import { idsOf, openLobby, playAgo, report } from '../records/plays/pages.ts';
import { makeDevice } from '../support/device-key.ts';
import { hasNats, startHub } from '../support/nats.ts';
import { createOperator, operatorSecret, secretSettings } from '../support/operator.ts';
import { repeats, walk } from '../support/soak.ts';
import { startMember } from './support.ts';

const PLAYS = repeats(500, 10_000, 'SIGNAGE_FLEET_PLAYS');
const PER_PAGE = 100;

describe.skipIf(!hasNats)('with a real nats-server', { timeout: 900_000 }, () => {
  test(`of ${PLAYS} plays each is read once, whatever the hub has lost`, walk, async () => {
    const hub = await startHub();
    const sites = await Promise.all(
      ['Wien', 'Graz'].map((site) =>
        startMember(hub, { content: lobby, env: { SIGNAGE_SITE: site, ...secretSettings(operatorSecret) } }),
      ),
    );
    const store = join(hub.folder, 'store');
    const backup = join(hub.folder, 'backup');
    const manage = async () => jetstreamManager(await hub.headOffice(), { checkAPI: false });
    const faults: (() => Promise<void>)[] = [
      async () => {
        await hub.kill();
        rmSync(backup, { recursive: true, force: true });
        cpSync(store, backup, { recursive: true });
        await hub.start();
      },
      async () => {
        hub.freeze(true);
        await pause(3_000);
        hub.freeze(false);
      },
      async () => {
        const { streams } = await manage();
        const { config, state } = await streams.info('signage-plays');
        await streams.update('signage-plays', { max_bytes: state.bytes + 10_000 });
        await pause(2_000);
        await streams.update('signage-plays', { max_bytes: config.max_bytes });
      },
      async () => {
        await hub.kill();
        rmSync(store, { recursive: true });
        cpSync(backup, store, { recursive: true });
        await hub.start();
      },
      async () => {
        const { streams } = await manage();
        await streams.delete('signage-plays');
        await openHub(await hub.headOffice()).init(null);
      },
      async () => {
        await hub.kill();
        rmSync(store, { recursive: true });
        await hub.start();
        await openHub(await hub.headOffice()).init(null);
      },
    ];
    const sent: string[] = [];
    const rounds = PLAYS / PER_PAGE;
    for (let round = 0; round < rounds; round += 1) {
      const site = sites[round % sites.length] as (typeof sites)[number];
      const working = (async () => {
        // Each device may report 300 plays a minute.
        const device = makeDevice();
        const binding = { deviceId: device.deviceId, clientName: `page ${round}`, screenSlug: 'lobby' };
        await createOperator(site, operatorSecret)('POST', '/api/onboarding', binding);
        const page = await openLobby(site, operatorSecret, {}, device);
        for (let n = 0; n < PER_PAGE; n += 50) {
          const plays = Array.from({ length: 50 }, (_, at) => playAgo(10 + n + at + (round % 5 === 4 ? 90_000 : 0)));
          await report(page, plays);
          sent.push(...idsOf(plays));
        }
        page.socket.close();
      })();
      const fault = faults[round % (faults.length + 1)];
      if (fault !== undefined) await fault();
      await working;
    }
    const read = async () => {
      const ids: string[] = [];
      for await (const batch of openHub(await hub.headOffice()).plays(null)) ids.push(...idsOf(batch));
      return ids.sort();
    };
    const expected = sent.toSorted();
    await expect
      .poll(async () => (await read().catch(() => [])).length, { timeout: 120_000, interval: 2_000 })
      .toBe(expected.length);
    expect(await read()).toEqual(expected);
  });
});
