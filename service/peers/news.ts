/**
 * Spreads a change over a tree: its origin sends it to a few boxes, and assigns each a share of the others to forward it
 * to. A box answers once it has the change. The share of a box that does not answer goes to the next one of it, so that
 * each box is named once, and a change takes n - 1 requests in about log n hops.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { readFields } from '../contract/fields.ts';
import { type PeerNews, peerNews } from '../contract/gossip.ts';
import { remember } from '../domain/collections.ts';
import { createRate } from '../domain/rate.ts';
import { readJson } from '../http/body.ts';
import type { Routes } from '../http/routes.ts';
import type { ServiceContext } from '../module.ts';
import type { AskPeers } from './operations.ts';
import type { Registry } from './registry.ts';
import type { Replication } from './replication.ts';

/** Fan-out: boxes to which each box forwards a change. */
const FAN_OUT = 4;
/** Changes whose recipients are remembered. */
const MAX_CHANGES = 64;

/** Splits the targets into shares of about one size. */
export const sharesOf = (targets: readonly string[], fanOut = FAN_OUT): string[][] =>
  Array.from({ length: Math.min(fanOut, targets.length) }, (_, share) =>
    targets.filter((__, index) => index % fanOut === share),
  );

/**
 * Sends a change to the targets.
 * @param send sends it to a box with the targets that the box forwards it to; resolves with whether the box accepted it
 * @returns the targets that did not accept it
 */
export const spreadTo = async (
  targets: readonly string[],
  send: (target: string, share: readonly string[]) => Promise<boolean>,
): Promise<string[]> => {
  const missed = await Promise.all(
    sharesOf(targets).map(async (share) => {
      for (const [index, target] of share.entries()) {
        if (await send(target, share.slice(index + 1))) return share.slice(0, index);
      }
      return share;
    }),
  );
  return missed.flat();
};

/** Remembers to whom a change was sent, so that no request makes a box send it to another one twice. */
export const createRecipients = () => {
  const sent = new Map<string, Set<string>>();
  return {
    /** Those of the targets that have not been sent the change yet; they count as sent from now on. */
    take(change: string, targets: readonly string[]): string[] {
      const before = sent.get(change) ?? new Set();
      const fresh = [...new Set(targets)].filter((target) => !before.has(target));
      for (const target of fresh) before.add(target);
      remember(sent, change, before, MAX_CHANGES);
      return fresh;
    },
  };
};

type Change = Pick<PeerNews, 'content' | 'record'>;

interface Site {
  registry: Pick<Registry, 'alive' | 'applyRecord' | 'offered' | 'onContact'>;
  asking: Pick<AskPeers, 'ask'>;
  replication: Pick<Replication, 'settle' | 'shortDocument'>;
  /** Exchanges with all peers, after a change could not be forwarded. */
  tell(): void;
}

/** After this time a box answers that it is still fetching. */
const PATIENCE_MS = 1_500;
/** Changes of others that a box passes on a second: without a secret, any host can send some. */
const MAX_RATE = 20;

const keyOf = ({ content, record }: Change): string =>
  JSON.stringify([content?.counter, content?.nodeId, content?.sha256, record?.nodeId, record?.seq]);

export const createNews = (
  { options, ids: { nodeId: self }, monotonicNow }: Pick<ServiceContext, 'options' | 'ids' | 'monotonicNow'>,
  { registry, asking, replication, tell }: Site,
) => {
  const recipients = createRecipients();
  const rate = createRate(MAX_RATE, 1_000);
  let port: number | null = null;

  const reachable = (): string[] => registry.alive().map(({ nodeId }) => nodeId);

  const pass = async (change: Change, targets: readonly string[]): Promise<void> => {
    if (port === null) return;
    // What is not encrypted is ignored there.
    const document =
      options.sharedSecret !== null && change.content !== undefined ? replication.shortDocument(change.content) : null;
    const sender = { from: self, port, ...(document && { document }) };
    const known = new Set(reachable());
    const reached = targets.filter((target) => known.has(target));
    const fresh = recipients.take(keyOf(change), reached);
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
        registry.onContact(from, ctx.req.socket.remoteAddress, theirPort, false);
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
        ctx.body = { taken };
      },
    } satisfies Routes,
    /** Sends a change of this box to all boxes. Never rejects. */
    spread: (change: Change): Promise<void> => pass(change, reachable()),
    start: (at: number): void => {
      port = at;
    },
  };
};
