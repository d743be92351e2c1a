/** A client that a generator makes from the OpenAPI document: it compiles, and every operation can be called through it. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { generateApi } from '../../.scripts/client.ts';
import { everyKind } from '../content/samples.ts';
import { answerCheckOf } from '../support/openapi.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';

const root = join(import.meta.dirname, '..', '..');
const file = join(root, 'resources', 'openapi.yaml');

interface Operation {
  operationId: string;
  parameters?: { name: string; in: 'path' | 'query' | 'header'; example?: string }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
}

interface Result {
  response?: Response;
  error?: unknown;
}

type Sdk = Record<string, (options: object) => Promise<Result>>;

/** Without `exactOptionalPropertyTypes`, which the generator's own runtime does not meet. */
const strictly = {
  compilerOptions: {
    ...{ target: 'ES2023', module: 'ESNext', moduleResolution: 'bundler', lib: ['ES2023', 'DOM', 'DOM.Iterable'] },
    ...{ types: [], strict: true, noUncheckedIndexedAccess: true, noImplicitOverride: true, isolatedModules: true },
    ...{ noFallthroughCasesInSwitch: true, verbatimModuleSyntax: true, skipLibCheck: false, noEmit: true },
  },
  include: ['client'],
};

const compile = (folder: string): string => {
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(strictly));
  try {
    return execFileSync(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', folder], {
      encoding: 'utf8',
    });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
};

const load = async (folder: string): Promise<Sdk> => {
  const outfile = join(folder, 'sdk.mjs');
  await build({
    entryPoints: [join(folder, 'client', 'sdk.gen.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    logLevel: 'error',
  });
  return (await import(pathToFileURL(outfile).href)) as Sdk;
};

/** What a new box has nothing of: copies of remote media, releases, streams, scripts, boxes, displays. */
const absent = /TriggersToken|Copies|Renditions|Updates|RtmpStreams|AssetsPath|ConsoleApi|PeersRestart|PeersScreenshot/;

test('a generated client compiles under strict options, and calls every operation', { timeout: 180_000 }, async () => {
  const folder = temporaryFolder();
  await generateApi(join(folder, 'client'));
  expect(existsSync(join(folder, 'client', 'sdk.gen.ts'))).toBe(true);
  expect(compile(folder)).toBe('');

  const sdk = await load(folder);
  const screens = [{ name: 'Lobby', slug: 'lobby', playlist_id: 'welcome' }];
  const service = await startTestService({ content: { ...everyKind, screens } });
  await service.get('/api/media/hall.jpg', { method: 'PUT', body: 'a picture' });

  const { paths } = parse(readFileSync(file, 'utf8')) as { paths: Record<string, Record<string, Operation>> };
  const operations = Object.values(paths).flatMap((each) => Object.entries(each));
  const functions = new Map(Object.keys(sdk).map((name) => [name.toLowerCase(), name]));
  expect(functions.size).toBe(operations.length);

  // What deletes comes late, and what gives a file another name last.
  const turn = ([method, { operationId }]: (typeof operations)[number]): number =>
    Number(method === 'delete') + 2 * Number(operationId.endsWith('Rename'));
  const ordered = operations.toSorted((one, other) => turn(one) - turn(other));
  for (const [method, { operationId, parameters = [], requestBody }] of ordered) {
    const valuesOf = (place: string) =>
      Object.fromEntries(
        parameters
          .filter((each) => each.in === place && (place !== 'header' || each.example !== undefined))
          .map(({ name, example }) => [name, example]),
      );
    const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
    const call = sdk[functions.get(operationId.toLowerCase()) ?? ''];
    const result = await call?.({
      baseUrl: service.url,
      path: valuesOf('path'),
      query: valuesOf('query'),
      ...(type && { body: media?.example ?? new Blob(['some bytes']) }),
      headers: { ...valuesOf('header'), ...(type && { 'Content-Type': type }) },
      fetch: async (request: Request) => {
        const response = await fetch(request, { redirect: 'manual' });
        const { pathname, search } = new URL(request.url);
        await answerCheckOf('extended')(method.toUpperCase(), pathname + search, response);
        return response;
      },
    });
    if (result?.response === undefined) throw result?.error;
    const { status } = result.response;
    const expected = absent.test(operationId) ? [200, 201, 204, 302, 404, 409] : [200, 201, 204];
    // Without a secret a box is backed up, restored and protected by itself alone.
    if (/Backup|Restore|Actions|Protect/.test(operationId)) expected.push(403);
    if (operationId === 'postConsoleApiTriggers') expected.push(400);
    if (/DraftsIdPublish/.test(operationId)) expected.push(428);
    if (/Trust|ApiCa/.test(operationId)) expected.push(404);
    expect(expected, `${operationId} answers ${status}`).toContain(status);
  }
});
