/** Protecting a site, and its first admin at the box. */
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { exitCodes } from '../../service/cli/exit.ts';
import type { Alert } from '../../service/contract/alerts.ts';
import { readInvitation } from '../../service/domain/joining.ts';
import { secret as cliSecret, signageHere } from '../cli/support.ts';
import { lobby } from '../content/samples.ts';
import { aliveAt, startBox } from '../peers/support.ts';
import { startReceiver } from '../records/receiver.ts';
import { healthOf, patience } from '../support/observe.ts';
import { createOperator, operatorSecret, refusalOf, secretSettings } from '../support/operator.ts';
import { createPerson, joinWith, localHeaders, makeKey } from '../support/people.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';

const path = '/console/api/protect';

test('a box makes a secret for itself alone, names the others until they have it, and is their peer then', {
  timeout: 60_000,
}, async () => {
  const [dataDir, otherDir] = [temporaryFolder(), temporaryFolder()];
  const config = join(dataDir, 'config.json');
  writeFileSync(config, JSON.stringify({ SIGNAGE_SHARED_SECRET: '', maxStreams: 3 }));
  chmodSync(config, 0o644);
  let restarts = 0;
  const other = await startTestService({ content: lobby, dataDir: otherDir });
  const box = await startBox([other], { dataDir, host: { restart: () => (restarts += 1) } });
  await expect.poll(() => aliveAt(box), patience).toBe(1);
  for (const headers of [{}, { ...localHeaders(box), 'x-forwarded-for': '10.0.0.9' }, { 'x-signage-local': 'x' }]) {
    expect(await refusalOf(await box.post(path, {}, headers))).toEqual([403, 'local_required']);
  }
  expect(await refusalOf(await box.post(path, { secret: '' }, localHeaders(box)))).toEqual([400, 'invalid_field']);

  const made = await box.post(path, {}, localHeaders(box));
  expect([made.status, made.headers.get('cache-control')]).toEqual([201, 'no-store']);
  const { secret, ...rest } = (await made.json()) as { secret: string; config: string };
  expect(secret.length).toBeGreaterThanOrEqual(32);
  expect(rest).toEqual({
    config: JSON.stringify({ sharedSecret: secret }),
    boxes: [{ nodeId: other.nodeId, url: other.url }],
    restart_required: false,
  });
  expect(JSON.parse(readFileSync(config, 'utf8'))).toEqual({ maxStreams: 3, sharedSecret: secret });
  expect(statSync(config).mode & 0o007).toBe(0);
  await expect.poll(() => restarts, patience).toBe(1);
  // What is shown once is not made again, even before the restart.
  expect(await refusalOf(await box.post(path, {}, localHeaders(box)))).toEqual([409, 'already_protected']);
  expect(box.log()).not.toContain(secret);
  await box.close();

  const again = await startBox([other], { dataDir });
  const sentence = `The box at ${other.url} is not protected yet: enter the secret of the site there.`;
  await expect.poll(async () => (await healthOf(again)).warnings, patience).toContain(sentence);
  expect((await again.get('/console/api/site')).status).toBe(401);
  const signed = createOperator(again, secret);
  expect(await refusalOf(await signed('POST', path, {}, localHeaders(again)))).toEqual([409, 'already_protected']);
  expect(await refusalOf(await signed('POST', path, {}))).toEqual([403, 'local_required']);

  expect((await other.post(path, { secret }, localHeaders(other))).status).toBe(201);
  await other.close();
  // At the same address, which the sentence named.
  await startBox([again], { dataDir: otherDir, env: { SIGNAGE_PORT: new URL(other.url).port } });
  await expect.poll(() => aliveAt(again), patience).toBe(1);
  expect((await healthOf(again)).warnings.join()).not.toContain('is not protected yet');
});

test('the command line protects the box that it runs on, and tells the secret once', { timeout: 60_000 }, async () => {
  const box = await startTestService({ content: lobby });
  const env = { SIGNAGE_DATA_DIR: box.dataDir };
  const elsewhere = await signageHere(['protect'], { SIGNAGE_DATA_DIR: temporaryFolder() });
  expect([elsewhere.code, elsewhere.stderr]).toEqual([
    exitCodes.unreachable,
    expect.stringContaining('run it on the box'),
  ]);
  const done = await signageHere(['protect', '--json'], { ...env, SIGNAGE_SHARED_SECRET: 'of another site' });
  const { secret } = JSON.parse(done.stdout);
  expect(JSON.parse(readFileSync(join(box.dataDir, 'config.json'), 'utf8'))).toEqual({ sharedSecret: secret });
  expect(done.stderr).toContain('Restart the player');
  expect((await signageHere(['protect'], env)).stderr).toContain('has a secret already');

  const second = await startTestService({ content: lobby });
  const given = await signageHere(
    ['protect', '--secret-stdin'],
    { SIGNAGE_DATA_DIR: second.dataDir },
    {
      stdin: Readable.from([`${cliSecret}\n`]),
    },
  );
  expect([given.code, given.stdout]).toEqual([0, 'This box has the secret.\n']);
  expect(JSON.parse(readFileSync(join(second.dataDir, 'config.json'), 'utf8'))).toEqual({ sharedSecret: cliSecret });
  expect((await signageHere(['protect', '--secret-stdin'], env, { stdin: Readable.from(['\n']) })).code).toBe(2);
});

test('an admin who is made at the box joins within ten minutes, and every admin is told', async () => {
  const receiver = await startReceiver<Alert>();
  const messages = () => receiver.received.map(({ body }) => `${body.type} ${body.subject} ${body.message}`);
  let ahead = 0;
  const box = await startTestService({
    content: lobby,
    env: {
      ...secretSettings(operatorSecret),
      SIGNAGE_ALERT_URL: receiver.url,
      SIGNAGE_PUBLIC_URL: 'http://10.0.0.5:8080',
    },
    wall: () => Date.now() + ahead,
  });
  const shown = await box.recover();
  const { hash, origin } = new URL(shown.url);
  expect([origin, Date.parse(shown.expiresAt) - Date.now()]).toEqual(['http://10.0.0.5:8080', expect.any(Number)]);
  const { person = '', code = '' } = readInvitation(hash) ?? {};
  ahead = 601_000;
  expect(await refusalOf(await joinWith(box, code, person, makeKey()))).toEqual([403, 'invitation_invalid']);
  // Who never joined is invited again.
  const again = readInvitation(new URL((await box.recover()).url).hash);
  expect(again?.person).toBe(person);
  const key = makeKey();
  expect((await joinWith(box, again?.code ?? '', person, key)).status).toBe(201);
  const admin = createPerson(box, key, () => Date.now() + ahead);
  const { people } = await (await admin('GET', '/console/api/people')).json();
  expect(people).toMatchObject([{ id: 'admin', role: 'admin', keys: [{ invited_by: { id: null } }] }]);
  const { records } = await (await admin('GET', '/console/api/audit')).json();
  expect(records.filter(({ action }: { action: string }) => action === 'person.recover')).toHaveLength(2);
  await expect.poll(() => messages().some((each) => each.startsWith('person.joined admin ')), patience).toBe(true);
  await expect
    .poll(messages, patience)
    .toContainEqual(expect.stringMatching(/^person\.recovered admin The admin "Admin" was made at /));
  const { warnings } = await healthOf(box);
  expect(warnings).toContainEqual(expect.stringMatching(/^An admin joined at the maintenance page of .* on \d{4}-/));
  expect(readInvitation(new URL((await box.recover()).url).hash)?.person).toBe('admin-2');
  const open = await startTestService({ content: lobby, env: { SIGNAGE_PUBLIC_URL: 'http://10.0.0.5:8080' } });
  await expect(open.recover()).rejects.toThrow('protect this site');
});
