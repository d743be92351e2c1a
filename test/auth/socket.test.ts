import { expect, test } from 'vitest';
import { upgradeHeaders } from '../../service/auth/tokens.ts';

const tokensOf = (...protocols: string[]) =>
  upgradeHeaders({ host: ['player'], 'sec-websocket-protocol': protocols })['x-signage-page-auth'];

test.each<[string, string[], string[] | undefined]>([
  ['in the second place', ['signage.v1, token.a.b-c_d'], ['a.b-c_d']],
  ['in the first place', ['token.a.b.c,signage.v1'], ['a.b.c']],
  ['in a line of its own', ['signage.v1', 'token.a.b.c'], ['a.b.c']],
  ['in odd spaces', [' signage.v1 ,\t token.a.b.c '], ['a.b.c']],
  ['twice: neither is chosen', ['token.a, token.b'], ['a', 'b']],
  ['empty', ['signage.v1, token.'], ['']],
  ['not there', ['signage.v1'], undefined],
  ['under another name', ['signage.v1, Token.a, xtoken.b, token'], undefined],
])('a page token among the subprotocols: %s', (_, protocols, expected) => {
  expect(tokensOf(...protocols)).toEqual(expected);
});

test('without subprotocols, the headers are unchanged', () => {
  const headers = { host: ['player'], 'x-signage-page-auth': ['a'] };
  expect(upgradeHeaders(headers)).toEqual(headers);
});

test('a token in the header and one in the subprotocol are both returned', () => {
  const headers = { 'x-signage-page-auth': ['a'], 'sec-websocket-protocol': ['signage.v1, token.b'] };
  expect(upgradeHeaders(headers)['x-signage-page-auth']).toEqual(['a', 'b']);
});
