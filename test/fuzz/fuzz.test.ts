/**
 * Requests for the whole API document, valid, nearly valid and hostile, against a service in a process of its own.
 * SIGNAGE_TEST_FUZZ is how many (default 1,500, in `npm run soak` 100,000), SIGNAGE_TEST_FUZZ_SEED chooses which (default 1).
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Variant } from '../../service/contract/terms.ts';
import { everyKind } from '../content/samples.ts';
import { startHeadless } from '../platform/options/process.ts';
import { answerCheckOf } from '../support/openapi.ts';
import { temporaryFolder } from '../support/service.ts';
import { isSoak, repeats } from '../support/soak.ts';
import { createClient } from './client.ts';
import { oddities, sendBytes } from './oddities.ts';
import { type Usage, usageOf } from './process.ts';
import { type FuzzRequest, type OpenApi, requestsOf } from './requests.ts';
import { conversations, converse } from './sockets.ts';
import type { Schema } from './values.ts';

const total = repeats(1_500, 100_000, 'SIGNAGE_TEST_FUZZ');
const seed = Number(process.env['SIGNAGE_TEST_FUZZ_SEED'] ?? 1);
const secret = 'a secret of sixteen or more';
const BATCH = 250;
const LANES = 12;
/** Runs of more requests compare their memory: the last third of a run with the third before. */
const WARM_UP = 5_000;
/** Files that are opened at their first use and kept. */
const SPARE_DESCRIPTORS = 8;
const MOST_MEGABYTES = 300;

const setups: [Variant, string | null][] = [
  ['extended', null],
  ['extended', secret],
  ['baseline', null],
  ['baseline', secret],
];

const documentOf = (variant: Variant): OpenApi => {
  const name = variant === 'extended' ? 'openapi.yaml' : 'openapi.baseline.yaml';
  return parse(readFileSync(join(import.meta.dirname, '..', '..', 'resources', name), 'utf8')) as OpenApi;
};

/** Stands in for ffmpeg: says its version, and then runs until it is stopped. */
const fakeFfmpeg = (folder: string): string => {
  const path = join(folder, 'ffmpeg');
  writeFileSync(
    path,
    '#!/bin/sh\ncase "$*" in *-version*) echo "ffmpeg version 7.1" ;; *) exec /bin/sleep 600 ;; esac\n',
    {
      mode: 0o755,
    },
  );
  return path;
};

const start = async (variant: Variant, key: string | null) => {
  const dataDir = temporaryFolder();
  mkdirSync(join(dataDir, 'uploads'));
  writeFileSync(join(dataDir, 'uploads', 'hall.jpg'), Buffer.from('ffd8ffe000104a46', 'hex'));
  const local = JSON.stringify(everyKind).replaceAll(/https?:\/\/[\w.]+\.com/g, 'http://127.0.0.1:9');
  const content = JSON.parse(local) as typeof everyKind;
  const screens = [...content.screens, { name: 'Bar', slug: 'bar' }];
  writeFileSync(join(dataDir, 'content.json'), JSON.stringify({ ...content, screens }));
  const service = startHeadless({
    SIGNAGE_DATA_DIR: dataDir,
    SIGNAGE_VARIANT: variant,
    SIGNAGE_FFMPEG_PATH: fakeFfmpeg(dataDir),
    SIGNAGE_MAX_STREAMS: '2',
    SIGNAGE_STREAM_IDLE_SECONDS: '1',
    // V8 collects late while its heap may grow: in a small heap what is kept shows.
    NODE_OPTIONS: '--max-old-space-size=64 --max-semi-space-size=2',
    ...(key !== null && { SIGNAGE_SHARED_SECRET: key }),
  });
  return { url: await service.ready(), pid: service.child.pid ?? 0, ended: service.ended };
};

const describeRequest = ({ body, ...request }: FuzzRequest): string =>
  JSON.stringify({ ...request, body: body?.toString('latin1').slice(0, 300) ?? null }).slice(0, 1_200);

/** How much memory a part of a run took, in MB. */
const median = (readings: readonly Usage[]): number => {
  const sorted = readings.map(({ megabytes }) => megabytes).toSorted((one, other) => one - other);
  return sorted[sorted.length >> 1] ?? 0;
};

describe.each(setups)('the %s variant with the secret %j', (variant, key) => {
  test(`answers every fuzzed request as its document says, and grows in nothing (seed ${seed})`, {
    timeout: 60_000 + total * 60,
  }, async () => {
    const { url, pid } = await start(variant, key);
    const client = createClient({ url, secret: key });
    const document = documentOf(variant);
    const checkAnswer = answerCheckOf(variant);
    const resolve = (schema: Schema): Schema => {
      const at = typeof schema['$ref'] === 'string' ? schema['$ref'].split('/').slice(1) : null;
      return at?.reduce<Schema>((node, part) => node[part] as Schema, document as unknown as Schema) ?? schema;
    };
    const requests = requestsOf(document, resolve, key !== null);
    const faults = new Map<string, string>();
    const statuses = new Map<number, number>();
    const note = (fault: string, of: string): unknown => faults.set(fault.slice(0, 120), `${fault}\n  ${of}`);

    const send = async (request: FuzzRequest): Promise<void> => {
      try {
        const response = await client.send(request);
        const { status, headers } = response;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status >= 500) throw new Error(`answers ${status}: ${await response.clone().text()}`);
        await checkAnswer(request.method, request.target, response);
        if (headers.get('x-content-type-options') !== 'nosniff') throw new Error('there is no nosniff');
      } catch (error) {
        note((error as Error).message.replace(`${request.method} ${request.target}`, ''), describeRequest(request));
      }
    };
    const sendOddity = async (bytes: Buffer): Promise<void> => {
      const answer = await sendBytes(url, bytes);
      const [status = ''] = /(?<=^HTTP\/1\.1 )\d+/.exec(answer) ?? [];
      if (answer !== '' && !/^[1-4]/.test(status))
        note(`bytes are answered with ${answer.slice(0, 60)}`, bytes.toString('latin1'));
    };
    const talk = async (messages: readonly (string | Buffer)[]): Promise<void> => {
      const token = key === null ? null : await client.pageToken();
      for (const fault of await converse(url, token, messages)) note(fault, messages.join('\n  ').slice(0, 1_000));
    };

    const idle = usageOf(pid);
    const readings: Usage[] = [];
    for (let sent = 0; sent < total / setups.length && faults.size < 20; sent += BATCH) {
      const sample = <T>(values: fc.Arbitrary<T>, numRuns: number): T[] =>
        fc.sample(values, { seed: seed + sent, numRuns });
      const queue = [
        ...sample(requests, BATCH).map((request) => () => send(request)),
        ...sample(oddities(new URL(url).host), 6).map((bytes) => () => sendOddity(bytes)),
        ...sample(conversations, 4).map((messages) => () => talk(messages)),
      ].values();
      const lane = async (): Promise<void> => {
        for (const act of queue) await act();
      };
      await Promise.all(Array.from({ length: LANES }, lane));
      readings.push(usageOf(pid));
    }
    client.close();
    expect([...faults.values()].join('\n\n')).toBe('');
    if (isSoak) {
      console.log(variant, key, JSON.stringify(Object.fromEntries(statuses)));
      console.log(readings.map(({ descriptors, megabytes }) => `${descriptors}/${Math.round(megabytes)}`).join(' '));
    }

    // Every kind of request was met: some succeed, some are refused.
    for (const status of [200, 400, 404, 421]) expect([status, statuses.get(status) ?? 0]).not.toEqual([status, 0]);
    const open = (): number => usageOf(pid).descriptors;
    await expect
      .poll(open, { timeout: 60_000, interval: 500 })
      .toBeLessThanOrEqual(idle.descriptors + SPARE_DESCRIPTORS);
    if (readings.length * BATCH > WARM_UP) {
      const third = Math.floor(readings.length / 3);
      const [before, after] = [median(readings.slice(third, 2 * third)), median(readings.slice(2 * third))];
      expect(after).toBeLessThan(before * 1.03 + 2);
    }
    expect(usageOf(pid).megabytes).toBeLessThan(MOST_MEGABYTES);
  });
});
