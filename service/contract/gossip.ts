/** Gossip between boxes: periodic digests, and changes that boxes forward. */
import { z } from 'zod';
import { boxAlerts } from './alerts.ts';
import { attendance } from './peer-media.ts';
import {
  contentDocument,
  contentVersion,
  deviceBinding,
  mostAdvertisedDevices,
  mostBindings,
  mostPeers,
} from './peers.ts';
import { deviceId, sha256 } from './terms.ts';

const nodeId = z.uuid().describe('id of the box');
const seq = z.int().nonnegative().describe('version of what the box says of itself; 0: an older box, which has none');
const digests = z
  .string()
  .regex(/^[0-9a-f]{128}$/)
  .describe('of the boxes that the sender reaches and the versions of their records: 16 buckets of 8 hex digits');

/** Members per message; more are exchanged by the next ones. */
export const mostRecords = 100;

/** What a box says of itself, and other boxes pass on. */
export const memberRecord = z
  .object({
    nodeId,
    seq,
    media: sha256.describe('of the list of its media'),
    devices: z
      .array(deviceId)
      .max(mostAdvertisedDevices)
      .optional()
      .describe('bound devices that are connected to it; absent: it does not say'),
    alerts: boxAlerts.optional().describe('what it sees fail'),
    attendance: attendance.optional().describe('when it was there; absent: it does not say'),
  })
  .meta({ id: 'MemberRecord' });
export type MemberRecord = z.infer<typeof memberRecord>;

const memberEntry = z
  .tuple([nodeId, z.string().max(512).describe('where it answers; empty: the sender itself'), seq])
  .describe('a box that the sender reaches');
export type MemberEntry = z.infer<typeof memberEntry>;
const entries = z.array(memberEntry).max(mostPeers + 1);

const sender = {
  from: z.uuid().describe('node id of the box that asks'),
  port: z.int().min(1).max(65_535).describe('where it listens, at the address that it asks from'),
};

/** The versions of what all boxes should have alike. */
export const siteSummary = z
  .object({
    content: contentVersion.nullable().describe('null: there never was any'),
    bindings: sha256.describe('of all bindings'),
    takeovers: sha256.optional().describe('of all takeovers'),
  })
  .meta({ id: 'SiteSummary' });
export type SiteSummary = z.infer<typeof siteSummary>;

export const gossipRequest = z
  .object({
    ...sender,
    digest: z
      .string()
      .regex(/^[0-9a-f]{16}$/)
      .describe('of its content, bindings and takeovers'),
    members: digests,
  })
  .meta({ id: 'GossipRequest' });
export type GossipRequest = z.infer<typeof gossipRequest>;

export const gossipAnswer = z
  .object({
    nodeId,
    instance: z.string().max(64).describe('new with each start'),
    summary: siteSummary.optional().describe('absent: as the box that asks has it'),
    members: z
      .object({ digests, entries: entries.describe('those in the buckets that differ') })
      .optional()
      .describe('absent: as the box that asks has them'),
  })
  .meta({ id: 'GossipAnswer' });
export type GossipAnswer = z.infer<typeof gossipAnswer>;

export const memberExchange = z
  .object({
    wanted: z.array(nodeId).max(mostRecords).describe('boxes whose records the asking box wants'),
    records: z.array(memberRecord).max(mostRecords).describe('records that the asked box has in an older version'),
    entries: entries.describe('boxes that the asked box does not reach'),
  })
  .meta({ id: 'MemberExchange' });
export type MemberExchange = z.infer<typeof memberExchange>;

export const memberRecords = z
  .object({ records: z.array(memberRecord).max(mostRecords).describe('those that were wanted and are known') })
  .meta({ id: 'MemberRecords' });

export const reachQuery = z.object({ nodeId: z.uuid().describe('of the box that the asking one does not reach') });
export const reachAnswer = z
  .object({ reached: z.boolean().describe('whether the asked box reaches it now') })
  .meta({ id: 'ReachAnswer' });

/** A change that is passed on. */
export const peerNews = z
  .object({
    ...sender,
    content: contentVersion.optional().describe('the content that the sender has'),
    document: contentDocument
      .optional()
      .describe('the content itself, if it is short and encrypted; else the asked box fetches it'),
    record: memberRecord.optional().describe('what a box now says of itself'),
    targets: z.array(nodeId).max(mostPeers).describe('boxes to which the asked box passes it on'),
  })
  .meta({ id: 'PeerNews' });
export type PeerNews = z.infer<typeof peerNews>;

export const peerNewsAnswer = z
  .object({ taken: z.boolean().describe('whether the asked box has the change, or is fetching it, and passes it on') })
  .meta({ id: 'PeerNewsAnswer' });

export const bindingBuckets = 256;

export const bindingDigests = z
  .object({
    digests: z
      .string()
      .length(bindingBuckets * 8)
      .regex(/^[0-9a-f]+$/)
      .describe('of the bindings of the box that asks: 256 buckets of 8 hex digits'),
  })
  .meta({ id: 'BindingDigests' });

export const differingBindings = z
  .object({ bindings: z.array(deviceBinding).max(mostBindings).describe('those in the buckets that differ') })
  .meta({ id: 'DifferingBindings' });
