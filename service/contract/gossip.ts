/** Gossip between boxes: periodic digests, and changes that boxes forward. */
import { z } from 'zod';
import { boxAlerts } from './alerts.ts';
import { passedOn } from './passed-on.ts';
import {
  contentDocument,
  contentVersion,
  mostAdvertisedDevices,
  mostBindings,
  mostPeers,
  passedBinding,
} from './peers.ts';
import { deviceId, sha256 } from './terms.ts';

const nodeId = z.uuid().describe('id of the box');
const seq = z.int().nonnegative().describe('version of the record of the box');
const digests = z
  .string()
  .regex(/^[0-9a-f]{128}$/)
  .describe(
    'digests of the boxes that the sender can reach and the versions of their records: 16 buckets of 8 hex digits',
  );

/** Members per message; more are exchanged by the next ones. */
export const mostRecords = 100;

/** What a box says of itself, and other boxes pass on. */
export const memberRecord = passedOn(
  z.object({
    nodeId,
    seq,
    media: sha256.describe('of the list of its media'),
    devices: z
      .array(deviceId)
      .max(mostAdvertisedDevices)
      .optional()
      .describe('bound devices that are connected to it; absent: unknown'),
    alerts: boxAlerts.optional().describe('failures that it observes'),
    mqtt: z.literal(true).optional().describe('it is set up to publish the site over MQTT'),
  }),
  2_000,
).meta({ id: 'MemberRecord' });
export type MemberRecord = z.infer<typeof memberRecord>;

const memberEntry = z
  .tuple([nodeId, z.string().max(512).describe('base URL; empty: the sender itself'), seq])
  .describe('a box that the sender can reach');
export type MemberEntry = z.infer<typeof memberEntry>;
const entries = z.array(memberEntry).max(mostPeers + 1);

const sender = {
  from: z.uuid().describe('node id of the calling box'),
  port: z.int().min(1).max(65_535).describe('port on which the caller listens'),
};

/** The versions of what all boxes should have alike. */
export const siteSummary = z
  .object({
    content: contentVersion.nullable().describe('null: there has never been any'),
    bindings: sha256.describe('of all bindings'),
    takeovers: sha256.describe('of all takeovers'),
    drafts: sha256.optional().describe('of all drafts; absent: it has none'),
    shared: sha256.optional().describe('of the shared records; absent: it has none'),
  })
  .meta({ id: 'SiteSummary' });
export type SiteSummary = z.infer<typeof siteSummary>;

export const gossipRequest = z
  .object({
    ...sender,
    digest: z
      .string()
      .regex(/^[0-9a-f]{16}$/)
      .describe('of its content, bindings, takeovers, drafts and shared records'),
    members: digests,
  })
  .meta({ id: 'GossipRequest' });
export type GossipRequest = z.infer<typeof gossipRequest>;

export const gossipAnswer = z
  .object({
    nodeId,
    instance: z.string().max(64).describe('new with each start'),
    serverTime: z.number().describe('its clock, ms since the epoch'),
    summary: siteSummary.optional().describe('absent: the same as that of the caller'),
    members: z
      .object({ digests, entries: entries.describe('those in the buckets that differ') })
      .optional()
      .describe('absent: the same as those of the caller'),
  })
  .meta({ id: 'GossipAnswer' });
export type GossipAnswer = z.infer<typeof gossipAnswer>;

export const memberExchange = z
  .object({
    wanted: z.array(nodeId).max(mostRecords).describe('boxes whose records the caller requests'),
    records: z.array(memberRecord).max(mostRecords).describe('records of which the receiver has an older version'),
    entries: entries.describe('boxes that the receiver does not know as reachable'),
  })
  .meta({ id: 'MemberExchange' });
export type MemberExchange = z.infer<typeof memberExchange>;

export const memberRecords = z
  .object({ records: z.array(memberRecord).max(mostRecords).describe('the requested records that are known') })
  .meta({ id: 'MemberRecords' });

export const reachQuery = z.object({ nodeId: z.uuid().describe('of the box that the caller cannot reach') });
export const reachAnswer = z
  .object({
    reached: z.boolean().nullable().describe('whether the receiver can reach it now; null: it is too busy to know'),
  })
  .meta({ id: 'ReachAnswer' });

export const peerNews = z
  .object({
    ...sender,
    content: contentVersion.optional().describe('the content that the sender has'),
    document: contentDocument
      .optional()
      .describe('the content itself, if it is short and encrypted; otherwise the receiver fetches it'),
    record: memberRecord.optional().describe('the current record of a box'),
    targets: z.array(nodeId).max(mostPeers).describe('boxes to which the receiver forwards the change'),
  })
  .meta({ id: 'PeerNews' });
export type PeerNews = z.infer<typeof peerNews>;

export const peerNewsAnswer = z
  .object({ taken: z.boolean().describe('whether the receiver has the change or is fetching it, and forwards it') })
  .meta({ id: 'PeerNewsAnswer' });

export const bindingBuckets = 256;

export const bindingDigests = z
  .object({
    digests: z
      .string()
      .length(bindingBuckets * 8)
      .regex(/^[0-9a-f]+$/)
      .describe('digests of the bindings of the caller: 256 buckets of 8 hex digits'),
  })
  .meta({ id: 'BindingDigests' });

export const differingBindings = z
  .object({ bindings: z.array(passedBinding).max(mostBindings).describe('those in the buckets that differ') })
  .meta({ id: 'DifferingBindings' });
