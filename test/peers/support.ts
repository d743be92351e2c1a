/** A site: several real services on one machine, each of which knows the first. */
import { expect } from 'vitest';
import type { PeerHealth } from '../../service/wire.ts';
import { lobby } from '../content/samples.ts';
import { patience } from '../support/observe.ts';
import { startTestService, type TestService } from '../support/service.ts';

export const secret = 'a secret of all the boxes of a site';

type Setup = NonNullable<Parameters<typeof startTestService>[0]>;

/** Starts a box that knows the given ones. */
export const startBox = (peers: readonly Pick<TestService, 'url'>[], { env, ...setup }: Setup = {}) =>
  startTestService({
    content: lobby,
    ...setup,
    env: { SIGNAGE_PEERS: peers.map(({ url }) => url).join(','), ...env },
  });

export const peersOf = async (box: TestService): Promise<PeerHealth[]> => {
  const health = (await (await box.get('/healthz')).json()) as { peers: PeerHealth[] };
  return health.peers;
};

export const aliveAt = async (box: TestService): Promise<number> =>
  (await peersOf(box)).filter(({ state }) => state === 'alive').length;

/** Waits until every box knows every other. */
export const untilTogether = async (boxes: readonly TestService[]): Promise<void> => {
  for (const box of boxes) await expect.poll(() => aliveAt(box), patience).toBe(boxes.length - 1);
};

/** Starts two boxes or more that know each other: the first is everybody's static peer. */
export const startSite = async (setup: Setup = {}, more = 0): Promise<[TestService, TestService, ...TestService[]]> => {
  const first = await startBox([], setup);
  const second = await startBox([first], setup);
  const others = await Promise.all(Array.from({ length: more }, () => startBox([first], setup)));
  const boxes: [TestService, TestService, ...TestService[]] = [first, second, ...others];
  await untilTogether(boxes);
  return boxes;
};
