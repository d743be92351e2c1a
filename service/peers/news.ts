/** Spreads a change of this box to all boxes, and passes changes of others on. */
import { setTimeout as pause } from 'node:timers/promises';
import { readFields } from '../contract/fields.ts';
import { type PeerNews, peerNews } from '../contract/gossip.ts';
import { createRate } from '../domain/rate.ts';
import { readJson } from '../http/body.ts';
import { answerPeer } from '../http/peer-answer.ts';
import type { Routes } from '../http/routes.ts';
import { hostOf } from './advertised.ts';
import type { AskPeers } from './ask.ts';
import type { Registry } from './peer.ts';
import type { Replication } from './replication.ts';
import { createRecipients, spreadTo } from './spread.ts';

type Change = Pick<PeerNews, 'content' | 'record'>;

interface Dependencies {
  registry: Pick<Registry, 'alive' | 'applyRecord' | 'offered' | 'onContact'>;
  asking: Pick<AskPeers, 'ask'>;
  replication: Pick<Replication, 'settle' | 'shortDocument'>;
  /** Exchanges with all peers, after a change could not be forwarded. */
  tell(): void;
  /** Whether the traffic between boxes is encrypted. */
  isSecret: boolean;
  /** ms, monotonic */
  monotonicNow(): number;
}

export interface News {
  routes: Routes;
  /** Sends a change of this box to all boxes. Never rejects. */
  spread(change: Change): Promise<void>;
  start(port: number): void;
}

/** After this time a box answers that it is still fetching. */
const PATIENCE_MS = 1_500;
/** Changes of others that a box passes on a second: without a secret, any host can send some. */
const MAX_RATE = 20;

const keyOf = ({ content, record }: Change): string =>
  JSON.stringify([content?.counter, content?.nodeId, content?.sha256, record?.nodeId, record?.seq]);

export const createNews = (
  { registry, asking, replication, tell, isSecret, monotonicNow }: Dependencies,
  { nodeId: self }: { nodeId: string },
): News => {
  const recipients = createRecipients();
  const rate = createRate(MAX_RATE, 1_000);
  let port: number | null = null;

  const pass = async (change: Change, targets: readonly string[]): Promise<void> => {
    if (port === null) return;
    const document = isSecret && change.content !== undefined ? replication.shortDocument(change.content) : null;
    const sender = { from: self, port, ...(document && { document }) };
    const known = new Set(registry.alive().map(({ nodeId }) => nodeId));
    const fresh = recipients.take(
      keyOf(change),
      targets.filter((target) => known.has(target)),
    );
    const missed = await spreadTo(fresh, async (target, share) => {
      const answer = await asking.ask({ nodeId: target }, 'peers.news', { ...sender, ...change, targets: [...share] });
      return answer.ok && answer.body.taken;
    });
    if (missed.length > 0) tell();
  };

  return {
    routes: {
      'POST /api/peers/news': async (ctx) => {
        const { from, port: theirPort, targets, document, ...change } = readFields(peerNews, await readJson(ctx));
        const host = hostOf(ctx.req.socket.remoteAddress ?? '');
        if (host !== null) registry.onContact(from, host, theirPort, false);
        const { content, record } = change;
        const isNewRecord = record !== undefined && registry.applyRecord(record);
        // A document that was not encrypted may come from any host: it is ignored, and fetched from the sender.
        const given = ctx.state.isSealed ? document : undefined;
        const isOffered = content !== undefined && registry.offered(from, content);
        const settled = isOffered ? replication.settle(content, given) : Promise.resolve(isNewRecord);
        const passed = settled.then((isHere) => {
          if (isHere && rate.take(monotonicNow())) void pass(change, targets);
          return isHere;
        });
        // It may be large.
        const taken = await Promise.race([passed, pause(PATIENCE_MS, isOffered, { ref: false })]);
        answerPeer(ctx, { taken });
      },
    },
    spread: (change) =>
      pass(
        change,
        registry.alive().map(({ nodeId }) => nodeId),
      ),
    start: (at) => {
      port = at;
    },
  };
};
