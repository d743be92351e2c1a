/** More connections than the machine has descriptors for. */
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { maxConnections } from '../../service/http/connections.ts';
import { startHeadless } from '../platform/options/process.ts';
import { temporaryFolder } from '../support/service.ts';

test.each<[string, number]>([
  ['', 10_000],
  ['Limit  Soft  Hard  Units\nMax open files            unlimited            unlimited            files\n', 10_000],
  ['Max processes  5  5\nMax open files            1048576              1048576              files\n', 10_000],
  ['Max open files            1024                 4096                 files\n', 768],
  ['Max open files            300                  300                  files\n', 150],
])('the limits %j allow %i connections', (limits, most) => {
  expect(maxConnections(limits)).toBe(most);
});

test.skipIf(process.platform !== 'linux')(
  'at the connection limit, clients that are connected are served and their changes are saved',
  async () => {
    const { ready, printed } = startHeadless({ SIGNAGE_DATA_DIR: temporaryFolder() }, undefined, 400);
    const { hostname, port } = new URL(await ready());
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const bind = async (deviceId: string): Promise<number | undefined> => {
      const headers = { 'Content-Type': 'application/json' };
      const asking = request({ hostname, port, method: 'POST', path: '/api/onboarding', agent, headers });
      asking.end(JSON.stringify({ deviceId, clientName: 'Lobby', screenSlug: 'demo' }));
      const [answer] = (await once(asking, 'response')) as [IncomingMessage];
      answer.resume();
      await once(answer, 'end');
      return answer.statusCode;
    };
    expect(await bind('before')).toBe(200);
    const crowd = Array.from({ length: 500 }, () => connect(Number(port), hostname).on('error', () => undefined));
    onTestFinished(() => void crowd.map((socket) => socket.destroy()));
    await vi.waitUntil(() => crowd.filter(({ closed }) => closed).length > 250, { timeout: 20_000 });
    expect(await bind('meanwhile')).toBe(200);
    await vi.waitUntil(() => printed.stderr.includes('refusing connections'), { timeout: 20_000 });
  },
);
