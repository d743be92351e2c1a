/** The receivers of the guide, as they are written there. */
import { spawn } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { listenOn } from '../../peers/support.ts';
import { patience } from '../../support/observe.ts';
import { startTestService, temporaryFolder } from '../../support/service.ts';
import { startReceiver } from '../receiver.ts';

const guide = readFileSync(join(import.meta.dirname, '../../../resources/guide/receivers.md'), 'utf8');
const webhookSecret = `whsec_${Buffer.from('a key of twenty-four bytes!').toString('base64')}`;

test('the relay of the guide mails and chats what is signed, and refuses the rest', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'relay.mjs'), /```js\n([^]*?)```/.exec(guide)?.[1] ?? '');
  writeFileSync(join(folder, 'sendmail'), `#!/bin/sh\ncat >> '${folder}/mail'\n`);
  chmodSync(join(folder, 'sendmail'), 0o755);
  const chat = await startReceiver<{ text: string }>();
  const env = {
    PATH: `${folder}:${process.env['PATH']}`,
    ...{ PORT: '0', SIGNAGE_WEBHOOK_SECRET: webhookSecret, MAIL_TO: 'me@example.com', CHAT_URL: chat.url },
  };
  const relay = spawn(process.execPath, [join(folder, 'relay.mjs')], { env });
  onTestFinished(() => void relay.kill());
  let printed = '';
  relay.stdout.on('data', (chunk) => {
    printed += chunk;
  });
  await expect.poll(() => printed, patience).toMatch(/listening on \d+/);
  const url = `http://127.0.0.1:${/\d+/.exec(printed)?.[0]}/`;
  expect((await fetch(url, { method: 'POST', body: '{"message":"forged"}' })).status).toBe(401);
  await startTestService({
    content: '{',
    env: {
      SIGNAGE_ALERT_URL: url,
      SIGNAGE_ALERT_GRACE_SECONDS: '0',
      SIGNAGE_WEBHOOK_SECRET: webhookSecret,
      SIGNAGE_SITE: 'museum',
    },
  });
  await expect
    .poll(() => chat.received.map(({ body }) => body.text), patience)
    .toEqual([expect.stringMatching(/^\[museum\] content\.json on the box .* is not valid/)]);
  const mail = readFileSync(join(folder, 'mail'), 'utf8');
  expect(mail).toMatch(/^To: me@example\.com\nSubject: \[museum\] content\.invalid\n/);
});

test('the address of the guide makes ntfy say the message, with its type as the title', async () => {
  const published: { topic: string; title: string; message: string }[] = [];
  // As https://docs.ntfy.sh/publish/#message-templating says: Go templates in the query, filled in from a body that is JSON.
  const ntfy = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://ntfy');
    const text = Buffer.concat(await request.toArray()).toString();
    const isTemplate = ['1', 'yes', 'true'].includes(searchParams.get('template') ?? '');
    if (request.method !== 'POST' || !isTemplate || text.length > 32_768) return void response.writeHead(400).end();
    const values = JSON.parse(text) as Record<string, string>;
    const filled = (name: string): string =>
      (searchParams.get(name) ?? '').replaceAll(
        /\{\{\s*\.(\w+)\s*\}\}/g,
        (_, field: string) => values[field] ?? '<no value>',
      );
    published.push({ topic: pathname.slice(1), title: filled('title'), message: filled('message') });
    response.end('{"event":"message"}');
  });
  const [address = ''] = /https:\/\/ntfy\.sh\/[^']+/.exec(guide) ?? [];
  const SIGNAGE_ALERT_URL = address.replace('https://ntfy.sh', await listenOn(ntfy));
  await startTestService({ content: '{', env: { SIGNAGE_ALERT_URL, SIGNAGE_ALERT_GRACE_SECONDS: '0' } });
  await expect
    .poll(() => published, patience)
    .toEqual([
      {
        topic: 'a-topic-that-nobody-guesses',
        title: 'content.invalid',
        message: expect.stringMatching(/^content\.json on the box .* is not valid; there is nothing to play\.$/),
      },
    ]);
});
