/** Updates through the outgoing proxy: the updater has a session of its own, and asks for the password itself. */
import { EventEmitter } from 'node:events';
import { expect, test, vi } from 'vitest';
import { createKioskProxy } from '../../main/proxy.ts';

const settings = { proxy: 'http://me:p%40ss@proxy.example.com:3128', noProxy: ['.example.org'] };
const auth = { isProxy: true, host: 'proxy.example.com', port: 3128 };

test('every session has the proxy, whenever it is made, and the updater gets the password of the proxy alone, once', async () => {
  const app = new EventEmitter();
  let now = 0;
  const proxy = createKioskProxy(app, () => now);
  const sessions = [1, 2].map(() => ({ setProxy: vi.fn(() => Promise.resolve()) }));
  app.emit('session-created', sessions[0]);
  await proxy.use(settings);
  app.emit('session-created', sessions[1]);
  const rules = { mode: 'fixed_servers', proxyRules: 'http://proxy.example.com:3128' };
  for (const { setProxy } of sessions) {
    expect(setProxy).toHaveBeenCalledExactlyOnceWith({
      ...rules,
      proxyBypassRules: expect.stringContaining('.example.org'),
    });
  }
  const answered = (login: typeof auth): unknown[] => {
    const answer = vi.fn();
    proxy.answer(login, answer);
    expect(answer).toHaveBeenCalledOnce();
    return answer.mock.calls[0] ?? [];
  };
  for (const other of [
    { ...auth, host: 'updates.example.com' },
    { ...auth, port: 80 },
    { ...auth, isProxy: false },
  ]) {
    expect(answered(other)).toEqual([]);
  }
  expect(answered(auth)).toEqual(['me', 'p@ss']);
  // A proxy that asks again at once refuses it; without an answer the download would wait for ever.
  expect(answered(auth)).toEqual([]);
  now += 60_000;
  expect(answered(auth)).toEqual(['me', 'p@ss']);
});
