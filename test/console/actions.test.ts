/** Actions on the machine of a box: who may order them, which box carries them out, and what it answers. */
import { readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ActionAnswer, BoxOrder } from '../../service/contract/console/actions.ts';
import type { AuditRecord } from '../../service/contract/console/site.ts';
import { startBox, untilTogether } from '../peers/support.ts';
import { patience } from '../support/observe.ts';
import {
  createOperator,
  operatorSecret,
  refusalOf,
  secretSettings,
  withAndWithoutSecret,
} from '../support/operator.ts';
import { joinScreen } from '../support/page.ts';
import { shareTestService, startTestService, type TestService } from '../support/service.ts';

const tokenOf = ({ dataDir }: TestService): string => readFileSync(join(dataDir, 'local-token'), 'utf8');

const order = (box: TestService, secret: string | null, body: unknown, headers = {}, nodeId = box.nodeId) =>
  createOperator(box, secret)('POST', `/console/api/boxes/${nodeId}/actions`, body, headers);

describe('a box without displays and without a secret', () => {
  const box = shareTestService();

  test('the token of the box itself is new at each start, and only its own users can read it', async () => {
    const { dataDir } = box();
    const path = join(dataDir, 'local-token');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const first = await startTestService();
    const before = tokenOf(first);
    await first.close();
    expect(tokenOf(await startTestService({ dataDir: first.dataDir }))).not.toBe(before);
  });

  test('what ends the player is taken from the box itself alone, and then not tried', async () => {
    const reboot = { action: 'reboot' };
    const local = { 'x-signage-local': tokenOf(box()) };
    const refused: Record<string, string>[] = [
      {},
      { 'x-signage-local': 'guess' },
      { ...local, 'x-forwarded-for': '192.0.2.1' },
      { ...local, forwarded: 'for=192.0.2.1' },
      { ...local, via: '1.1 proxy' },
    ];
    for (const headers of refused) {
      expect(await refusalOf(await order(box(), null, reboot, headers))).toEqual([403, 'local_required']);
    }
    const taken = await order(box(), null, reboot, local);
    expect(await taken.json()).toMatchObject({ result: 'not_supported', state: null });
  });

  test('a reset repeats the name of the box, which is judged before anything else', async () => {
    for (const value of [undefined, 'another', 7]) {
      const refused = await order(box(), null, { action: 'reset', value });
      expect(await refused.json()).toMatchObject({ error: { code: 'invalid_field', field: 'value' } });
    }
    const named = { action: 'reset', value: hostname() };
    expect(await refusalOf(await order(box(), null, named))).toEqual([403, 'local_required']);
    const taken = await order(box(), null, named, { 'x-signage-local': tokenOf(box()) });
    expect(await taken.json()).toMatchObject({ result: 'not_supported' });
  });

  test('what is no order is refused, and what needs hardware is not supported', async () => {
    const invalid = [
      [{ action: 'explode' }, 400, 'invalid_field'],
      [{}, 400, 'missing_field'],
      [{ action: 'volume' }, 400, 'missing_field'],
      [{ action: 'volume', value: 101 }, 400, 'invalid_field'],
      [{ action: 'volume', value: '40' }, 400, 'invalid_field'],
      [{ action: 'identify', display: {} }, 400, 'invalid_field'],
    ] as const;
    for (const [body, ...refusal] of invalid) {
      expect([body, ...(await refusalOf(await order(box(), null, body)))]).toEqual([body, ...refusal]);
    }
    for (const body of [
      { action: 'display-off' },
      { action: 'display-on', display: 7 },
      { action: 'volume', value: 0 },
    ]) {
      expect(await (await order(box(), null, body)).json()).toMatchObject({ result: 'not_supported', state: null });
    }
    expect(await refusalOf(await order(box(), null, { action: 'identify' }, {}, 'nobody'))).toEqual([
      404,
      'box_not_found',
    ]);
  });

  test('pages show the name of the box and their number, and the answer counts those that painted it', async () => {
    const page = await joinScreen(box(), 'demo', { clientId: 'one', deviceId: 'display.1' });
    const other = await joinScreen(box(), 'demo', { clientId: 'two' });
    const asked = order(box(), null, { action: 'identify' });
    const shown = await page.message(({ type }) => type === 'identify');
    expect(shown).toMatchObject({ name: hostname(), address: box().url, number: 1, seconds: 15 });
    expect(await other.message(({ type }) => type === 'identify')).toMatchObject({ number: 2 });
    page.send({ type: 'identified' });
    other.send({ type: 'identified' });
    expect(await (await asked).json()).toMatchObject({ result: 'done', state: 2 });
    const one = order(box(), null, { action: 'identify', display: 'display.1' });
    await expect.poll(() => page.messages.filter(({ type }) => type === 'identify').length, patience).toBe(2);
    page.send({ type: 'identified' });
    expect(await (await one).json()).toMatchObject({ result: 'done', state: 1 });
    const nobody = await order(box(), null, { action: 'identify', display: 'gone' });
    expect(await nobody.json()).toMatchObject({ result: 'unknown', state: 0 });
  });
});

describe.each(withAndWithoutSecret)('a box with displays, %s', (_, secret) => {
  test('it answers at any box as its hardware did; a second order gets the first answer, and a reset stands in the audit of the others', async () => {
    const env = secretSettings(secret);
    const orders: BoxOrder[] = [];
    const host = {
      operate: async (given: BoxOrder) => {
        orders.push(given);
        if (given.action === 'display-off') return { refusal: 'invalid_field', field: 'display' } as const;
        if (given.action === 'power-off') return { refusal: 'update_in_trial' } as const;
        return { result: 'done', state: orders.length, message: 'It is done.' } satisfies ActionAnswer;
      },
    };
    const kiosk = await startBox([], { env, host });
    const other = await startBox([kiosk], { env });
    await untilTogether([kiosk, other]);
    const there = (body: unknown) => order(other, secret, body, {}, kiosk.nodeId);
    const volume = { action: 'volume', value: 30 };
    expect(await (await there(volume)).json()).toMatchObject({ result: 'done', state: 1 });
    expect(await (await order(kiosk, secret, volume)).json()).toMatchObject({ state: 1 });
    expect(await (await there({ action: 'volume', value: 40 })).json()).toMatchObject({ state: 2 });
    for (const box of [kiosk, other]) {
      const gone = await order(box, secret, { action: 'display-off', display: 'gone' }, {}, kiosk.nodeId);
      expect(await gone.json()).toMatchObject({ error: { code: 'invalid_field', field: 'display' } });
    }
    const local = secret === null ? { 'x-signage-local': tokenOf(kiosk) } : {};
    const trial = await order(kiosk, secret, { action: 'power-off' }, local);
    expect(await refusalOf(trial)).toEqual([409, 'update_in_trial']);
    if (secret === null) {
      const far = { action: 'reboot' };
      expect(await refusalOf(await order(other, null, far, local, kiosk.nodeId))).toEqual([403, 'local_required']);
      expect(await refusalOf(await kiosk.post('/api/peers/actions', far, local))).toEqual([403, 'local_required']);
      // The name is judged before that.
      const misnamed = await order(other, null, { action: 'reset', value: 'x' }, local, kiosk.nodeId);
      expect(await refusalOf(misnamed)).toEqual([400, 'invalid_field']);
    }
    const count = orders.length;
    const answers = [];
    // Without a secret it is taken at the box alone; with one at any.
    const at = secret === null ? kiosk : other;
    const asked = { ...local, 'x-signage-operator': 'Ada' };
    for (const body of [{ action: 'reset', value: hostname() }, { action: 'identify' }, { action: 'reboot' }]) {
      answers.push(await (await order(at, secret, body, asked, kiosk.nodeId)).json());
    }
    expect(orders.slice(count).map(({ action }) => action)).toEqual(['reset', 'identify']);
    expect(answers[2]).toEqual(answers[0]);
    const audit = async (): Promise<AuditRecord[]> =>
      ((await (await createOperator(other, secret)('GET', '/console/api/audit')).json()) as { records: AuditRecord[] })
        .records;
    const resets = async () =>
      (await audit()).filter(({ action, node_id }) => action === 'box.reset' && node_id === other.nodeId);
    await expect
      .poll(async () => (await resets()).map(({ target, operator }) => [target, operator]), patience)
      .toEqual([[hostname(), 'Ada']]);
    if (secret === null) {
      const person = { id: 'ada', name: 'Ada' };
      await other.post('/api/peers/resets', { name: 'hall', operator: 'Ada', person });
      expect(await resets()).toContainEqual(expect.objectContaining({ target: 'hall', operator: 'Ada', person: null }));
    }
    const ordered = (await audit()).filter(({ action }) => action === 'box.action');
    expect(ordered.map(({ after }) => after)).toContainEqual({ action: 'volume', value: 40 });
  });
});

test('with a secret the token of the box is no signature', async () => {
  const box = await startTestService({ env: secretSettings(operatorSecret) });
  const refused = await order(box, null, { action: 'identify' }, { 'x-signage-local': tokenOf(box) });
  expect(await refusalOf(refused)).toEqual([401, 'credentials_required']);
  expect((await order(box, operatorSecret, { action: 'reboot' })).status).toBe(200);
});
