/**
 * Somebody with the files of one site, at the hub as a client, through a leaf node, and as a leaf node that keeps no rules:
 * nothing reaches another site.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AckPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { signageHere } from '../cli/support.ts';
import { hasNats, startHub, startNats } from '../support/nats.ts';
import { titlesOf } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { repeats } from '../support/soak.ts';
import { type Attacker, openRogueLeaf } from './rogue-leaf.ts';
import { command, plays, saying, startMember, want } from './support.ts';

const API = 'JS.hub.API';
/** Subjects that are not the attacker's: of the other site, of the head office, and of the server. */
const targets = [
  ...['signage.Wien.command.all', 'signage.Wien.connections.lobby', 'signage.Wien.wanted', 'signage.Wien.plays.x'],
  ...['signage.Wien.alerts.x', 'signage.Wien.answer.x', '$KV.signage-content.Wien', '$KV.signage-status.Wien.content'],
  ...['$KV.signage-content.Graz', `${API}.$KV.signage-status.Wien.content`, `${API}.$KV.signage-content.Wien`],
  ...[`${API}.DIRECT.GET.KV_signage-content.$KV.signage-content.Wien`, `${API}.DIRECT.GET.KV_signage-content`],
  ...[`${API}.DIRECT.GET.signage-plays.signage.Wien.plays.x`, `${API}.STREAM.PURGE.signage-plays`],
  ...[`${API}.STREAM.DELETE.KV_signage-content`, `${API}.STREAM.MSG.GET.KV_signage-content`, `${API}.INFO`],
  ...['$JS.API.STREAM.PURGE.signage-plays', '$JS.API.STREAM.DELETE.KV_signage-content', '$JS.API.STREAM.LIST'],
  ...['$JS.API.DIRECT.GET.KV_signage-content.$KV.signage-content.Wien', '$JS.API.CONSUMER.CREATE.signage-plays'],
  ...['$JS.hub.API.STREAM.PURGE.signage-plays', '$JS.ACK.signage-plays.c.1.1.1.1.1', '$JS.FC.signage-plays.x'],
  ...[
    '$SYS.REQ.CLAIMS.UPDATE',
    '$SYS.REQ.SERVER.PING',
    '$SYS.REQ.ACCOUNT.PING.CONNZ',
    '_INBOX.x.y',
    '_R_.x.y',
    '_GR_.x.y',
  ],
];
/** The attacker's own subjects, whose answers the server sends to the reply of the message. */
const own = (site: string) => [
  `${API}.$KV.signage-status.${site}.a`,
  `${API}.DIRECT.GET.KV_signage-status.$KV.signage-status.${site}.a`,
  `${API}.DIRECT.GET.KV_signage-content.$KV.signage-content.${site}`,
  `${API}.DIRECT.GET.signage-plays.signage.${site}.plays.a`,
  `signage.${site}.plays.a`,
  `signage.${site}.answer.a`,
];
const wildcards = ['*', '>', 'a.*', 'signage.>', '$JS.API.>'];
const tricks: Record<string, string>[] = [
  { 'Nats-Rollup': 'all' },
  { 'Nats-Rollup': 'sub' },
  { 'Nats-Schedule': '@every 1s', 'Nats-Schedule-Target': 'signage.Wien.command.all' },
  { 'Nats-Trace-Dest': 'signage.Wien.command.all' },
  { 'Nats-TTL': '1s' },
  { 'KV-Operation': 'PURGE', 'Nats-Rollup': 'sub' },
  { 'Nats-Expected-Stream': 'KV_signage-content' },
];

describe.skipIf(!hasNats)('with a real nats-server', { timeout: 300_000 }, () => {
  test.each(['client', 'leaf', 'rogue leaf'].slice(0, repeats(1, 3)))(
    'as a %s, the files of one site do nothing at another one, and the hub lives',
    async (way) => {
      const hub = await startHub();
      const office = await hub.headOffice();
      const box = await startMember(hub, { content: saying('Old'), env: { SIGNAGE_SITE: 'Wien' } });
      const page = await joinScreen(box, 'lobby');
      await want(office, 'Wien', saying('Ours'));
      await plays(box, 'Ours');
      await want(office, 'Graz', saying('Theirs'));
      let attacker: Attacker;
      if (way === 'client') attacker = await hub.as(await hub.credentials('Graz'));
      else {
        const file = join(hub.folder, 'Graz.creds');
        await signageHere(
          ['fleet', 'credentials', 'Graz', '-o', file, '--keys', join(hub.folder, 'keys'), '--leaf', hub.leafUrl],
          hub.env,
        );
        if (way === 'leaf') {
          // The attacker owns the leaf node: anybody may connect to it.
          const config = readFileSync(`${file}.leaf.conf`, 'utf8').replace(/^(listen|authorization).*$/gm, '');
          const client = await (await startNats(config)).client();
          const reaches = () =>
            client.request(own('Graz')[0] ?? '', '{}', { timeout: 1_000 }).then(
              () => true,
              () => false,
            );
          await expect.poll(reaches, { timeout: 10_000 }).toBe(true);
          attacker = client;
        } else {
          const port = Number(new URL(hub.leafUrl).port);
          await expect(openRogueLeaf(port, file, onTestFinished)).rejects.toThrow(/authorization/i);
          attacker = await openRogueLeaf(port, `${file}.leaf.creds`, onTestFinished);
        }
      }
      const manager = await jetstreamManager(office);
      const seen: string[] = [];
      const mark = randomUUID();
      // All of what the head office and the other site could see of the attacker's texts.
      office.subscribe('>', {
        callback: (_, { subject, data }) => void (String(Buffer.from(data)).includes(mark) && seen.push(subject)),
      });
      await office.flush();
      const stateOf = async () => {
        const names = ['KV_signage-content', 'KV_signage-status', 'signage-plays', 'signage-alerts'];
        const states = await Promise.all(names.map((name) => manager.streams.info(name, { subjects_filter: '>' })));
        return states.map(({ state: { subjects = {} } }) =>
          Object.keys(subjects)
            .filter((subject) => !/[.]Graz([.]|$)/.test(subject))
            .sort(),
        );
      };
      const before = await stateOf();
      const configs = async () =>
        Promise.all(
          ['KV_signage-content', 'signage-plays'].map(async (name) => (await manager.streams.info(name)).config),
        );
      const configured = await configs();
      const text = JSON.stringify({
        command: 'blackout',
        blackout: true,
        id: mark,
        site: 'Wien',
        target: 'all',
        expiresAt: Date.now() + 60_000,
      });
      attacker.subscribe('>', { callback: () => undefined });
      // Of a program of the head office that acknowledges what it reads.
      const consumer = randomUUID();
      await jetstream(office).publish('signage.Wien.plays.y', '{}');
      await manager.consumers.add('signage-plays', { durable_name: consumer, ack_policy: AckPolicy.Explicit });
      await (await jetstream(office).consumers.get('signage-plays', consumer)).next();

      const heard: string[] = [];
      for (const subject of ['signage.Wien.>', 'signage.*.command.*', '$KV.>', '$JS.>', '$SYS.>', '_INBOX.>', '_R_.>'])
        attacker.subscribe(subject, {
          callback: (error, { data }) => void (error ?? heard.push(Buffer.from(data).toString('latin1'))),
        });
      for (const subject of targets) {
        attacker.publish(subject, text);
        attacker.publish(subject, text, { reply: 'signage.Wien.command.all' });
      }
      for (const subject of own('Graz')) {
        for (const reply of [...targets, ...wildcards]) attacker.publish(subject, text, { reply });
        for (const trick of tricks) {
          const meta = headers();
          for (const [name, value] of Object.entries(trick)) meta.set(name, value);
          attacker.publish(subject, text, { headers: meta, reply: 'signage.Wien.command.all' });
        }
        // The id of a record of another site.
        const meta = headers();
        meta.set('Nats-Msg-Id', 'Wien:known');
        attacker.publish(subject, text, { headers: meta });
      }
      for (const key of ['*', '>', 'Wien', 'a.b', '']) attacker.publish(`${API}.$KV.signage-status.Graz.${key}`, text);
      await attacker.flush();
      // As long as a site may take for a command that it would get.
      await pause(1_000);

      // The hub lives, and the site plays on what it played, undisturbed.
      expect(await office.rtt()).toBeGreaterThanOrEqual(0);
      expect(await titlesOf(box)).toEqual(['Ours']);
      expect(page.messages.filter(({ type }) => type === 'command')).toEqual([]);
      // Seen in the head office's account: the attacker's own subjects, as they are mapped, and rewritten replies.
      const foreign = new Set(seen.filter((subject) => !/[.]Graz([.]|$)|^_R_|^_INBOX/.test(subject)));
      // The server passes on an acknowledgement, which a leaf node that keeps no rules can give in the name of others: it
      // reaches no consumer whose name is not known.
      if (way === 'rogue leaf') foreign.delete('$JS.ACK.signage-plays.c.1.1.1.1.1');
      expect([...foreign]).toEqual([]);
      expect(await manager.consumers.info('signage-plays', consumer)).toMatchObject({ num_ack_pending: 1 });
      // What is sent is received at all.
      expect(seen).toContain('signage.Graz.plays.a');
      // What the head office says to the other site stays between them.
      const secret = randomUUID();
      const to = 'signage.Wien.command.lobby';
      expect(await command(office, to, { command: 'redirect', url: `/screen/lobby?${secret}` })).toMatchObject({
        sent: 1,
      });
      await attacker.flush();
      expect(heard.filter((each) => each.includes(secret))).toEqual([]);
      expect(await stateOf()).toEqual(before.map((subjects) => expect.arrayContaining(subjects)));
      expect(
        (await stateOf()).flat().filter((subject) => !before.flat().includes(subject) && !/Wien/.test(subject)),
      ).toEqual([]);
      expect(await configs()).toEqual(configured);
      // The record whose id was taken arrives.
      const meta = headers();
      meta.set('Nats-Msg-Id', 'Wien:known');
      const { data } = await office.request('signage.Wien.plays.z', '{}', { headers: meta, timeout: 5_000 });
      const acknowledged = JSON.parse(Buffer.from(data).toString());
      expect(acknowledged).toMatchObject({ stream: 'signage-plays', seq: expect.any(Number) });
      expect(acknowledged).not.toMatchObject({ duplicate: true });
      page.socket.close();
    },
  );
});
