/** Records of operations, and the routes that must be there for them. */
import { expect, test } from 'vitest';
import { operations } from '../../service/contract/operations/index.ts';
import { createApp } from '../../service/http/app.ts';
import type { Handler, Routes } from '../../service/http/routes.ts';

const answer: Handler = (ctx) => {
  ctx.body = '';
};

const every = Object.fromEntries(Object.keys(operations).map((name) => [name, answer])) as Routes;

type Given = Parameters<typeof createApp>;
const start = (routes: Routes[], variant: 'baseline' | 'extended' = 'extended') =>
  createApp({ options: { variant, console: true } } as Given[0], { routes } as unknown as Given[1]);

test('the service does not start with an operation that nobody answers, or two', () => {
  expect(() => start([every])).not.toThrow();
  const { 'GET /healthz': health, ...others } = every;
  expect(() => start([others])).toThrow('GET /healthz needs exactly one handler');
  expect(() => start([every, { 'GET /healthz': answer }])).toThrow('GET /healthz needs exactly one handler');
});

test('the baseline variant needs no handler of an extended operation', () => {
  const { 'POST /api/onboarding': onboarding, ...others } = every;
  expect(() => start([others])).toThrow('POST /api/onboarding');
  expect(() => start([others], 'baseline')).not.toThrow();
});

test('a route that is no operation does not compile, and a parameter that is in no path neither', () => {
  // @ts-expect-error: no operation has this name.
  const unknown: Routes = { 'GET /api/nothing': answer };
  const routes: Routes = {
    'GET /api/rtmp/streams/:key/:fileName': (ctx) => {
      const names: string[] = [ctx.params.key, ctx.params.fileName];
      return names;
    },
    // @ts-expect-error: the path has no key.
    'GET /healthz': (ctx: { params: { key: string } }) => ctx.params.key,
  };
  expect([unknown, routes]).toHaveLength(2);
});

test('the parameters of a path are those of its record', () => {
  for (const [name, operation] of Object.entries(operations)) {
    const inPath = [...name.matchAll(/[:*](\w+)/g)].map(([, parameter]) => parameter);
    const inRecord = 'params' in operation ? Object.keys(operation.params.shape) : [];
    expect([name, inRecord]).toEqual([name, inPath]);
  }
});
