/** `Expect` (RFC 9110, 10.1.1). */
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { lobby } from '../content/samples.ts';
import { shareTestService } from '../support/service.ts';
import { codeOf, connectTo, exchange, hostLine } from './raw.ts';

const service = shareTestService({ content: lobby });
const path = '/api/screens/lobby/playlist';

const ask = (start: string, lines: string[] = []) => {
  const { url } = service();
  return exchange(url, [`${start} HTTP/1.1`, hostLine(url), ...lines]);
};

describe('an expectation other than 100-continue', () => {
  test.each(['x', '100-continue, x', '100-continued'])(
    'of %s is rejected with the common error format',
    async (expectation) => {
      const answer = await ask(`GET ${path}`, [`Expect: ${expectation}`]);
      expect([answer.status, codeOf(answer)]).toEqual([417, 'expectation_failed']);
      const other = await ask('GET /api/nothing');
      const names = (headers: Record<string, string>) => Object.keys(headers).toSorted();
      expect(names(answer.headers)).toEqual(names(other.headers));
    },
  );

  test('of a page request is rejected with plain text', async () => {
    const answer = await ask('GET /screen/lobby', ['Expect: x']);
    expect([answer.status, answer.body]).toEqual([417, 'The only supported expectation is 100-continue.\n']);
  });

  test('is checked after the host, and before the origin', async () => {
    const { url } = service();
    const refused = await exchange(url, [`GET ${path} HTTP/1.1`, 'Host: evil.com', 'Expect: x']);
    expect([refused.status, codeOf(refused)]).toEqual([421, 'host_refused']);
    const foreign = await ask('POST /api/screens/lobby/commands', ['Origin: https://evil.com', 'Expect: x']);
    expect([foreign.status, codeOf(foreign)]).toEqual([417, 'expectation_failed']);
  });
});

test('a client that expects 100 Continue receives it, unless the gate rejects the request', async () => {
  const { url } = service();
  const start = async (host: string) => {
    const socket = await connectTo(url);
    const lines = ['POST /api/screens/lobby/commands HTTP/1.1', host, 'Content-Type: application/json'];
    socket.write(`${[...lines, 'Content-Length: 18', 'Expect: 100-Continue'].join('\r\n')}\r\n\r\n`);
    return { socket, first: String((await once(socket, 'data'))[0]) };
  };
  const { socket, first } = await start(hostLine(url));
  expect(first).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  socket.write('{"command":"next"}');
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
  expect((await start('Host: evil.com')).first).toMatch(/^HTTP\/1\.1 421 /);
});
