/** Messages between the boxes of a site. */
import { z } from 'zod';
import { boxAlerts } from './alerts.ts';
import { type Connection, connection } from './connections.ts';
import { displayNames, mostWaiting, pageFault, waitingDevice } from './console/site.ts';
import { takeover } from './console/takeovers.ts';
import { fleetPush } from './fleet.ts';
import { claimCode } from './onboarding.ts';
import { orUnread, passedOn } from './passed-on.ts';
import { author, cutText, deviceId, instant, operator, reading, reportedText, sha256, slug } from './terms.ts';

/** Marks a relayed request, which is executed on the receiving box and never relayed again. Value: node id of the sender. */
export const relayHeader = 'x-signage-relay';

/** Media type of what boxes with a secret tell each other: a compact JWE (RFC 7516, 8.1). */
export const sealedType = 'application/jose';

/** Id of a relayed command: each box carries it out once in 5 minutes, and answers a repeat as it answered the first. */
export const commandIdHeader = 'x-signage-command-id';

const commandId = z.string().regex(/^[\w.:-]{1,128}$/);

export const commandHeaders = z.object({
  [commandIdHeader]: commandId
    .optional()
    .describe(
      'The id of a relayed command. A screen runs an id once in 5 minutes; a repetition gets the first response',
    ),
});

/**
 * A relayed command that is older is not carried out, ms. With the difference of two clocks that is not corrected, 250 ms,
 * it makes the 3 s for which what boxes relay is fresh.
 */
export const mostCommandAgeMs = 2_750;

/** Several relayed commands; they are carried out in their order. */
export const peerCommands = z
  .object({
    commands: z
      .array(
        z.object({
          id: commandId.describe('a screen runs an id once in 5 minutes; a repetition gets the first response'),
          slug,
          body: z.record(z.string(), z.unknown()).describe('a CommandRequest'),
          ageMs: z
            .int()
            .nonnegative()
            .describe(
              `age of the command when the request was signed, ms; with a secret, a command older than ${mostCommandAgeMs} ms is not run`,
            ),
        }),
      )
      .max(200)
      .describe('run in this order'),
  })
  .meta({ id: 'PeerCommands', description: 'commands that a box relays' });

/** Connections of a box are at most as many: a larger count is a lie. */
export const mostConnections = 10_000;

export const peerSent = z
  .int()
  .nonnegative()
  .max(mostConnections)
  .describe('connections of this box that the command was written to');

const commandAnswer = z.union([
  z.object({ sent: peerSent }),
  z.object({ code: z.string().max(64).describe('of the error') }),
]);
export type CommandAnswer = z.infer<typeof commandAnswer>;

export const peerCommandAnswers = z
  .object({ answers: z.array(commandAnswer).max(200).describe('one per command') })
  .meta({ id: 'PeerCommandAnswers', description: 'results of relayed commands' });

/** Version of the content: the higher counter wins, then the higher nodeId. */
export const contentVersion = z
  .object({
    counter: z
      .int()
      .nonnegative()
      .describe('one more than the highest counter that the editing box had seen; 0: never edited'),
    nodeId: z.string().min(1).max(64).describe('of the box where the edit was made'),
    sha256: sha256.describe('of the document that the version names, its times included'),
  })
  .meta({ id: 'ContentVersion' });
export type ContentVersion = z.infer<typeof contentVersion>;

/** A longer content.json is not replicated. */
export const mostContentCharacters = 8 * 1024 ** 2;

/** The content as boxes replicate it. */
export const contentDocument = passedOn(
  contentVersion.extend({
    changedAt: instant.describe('when the edit was made'),
    ancestors: z
      .array(passedOn(contentVersion))
      .max(64)
      .describe('the versions that it was derived from, newest first'),
    stamps: z
      .array(
        z.tuple([
          slug,
          passedOn(
            z.object({
              created_at: instant,
              modified_at: instant,
              digest: z.string().max(64).describe('of what the screen shows'),
            }),
          ),
        ]),
      )
      .max(100_000)
      .describe('the times of the screens, by slug'),
    operator: operator.default(null),
    person: author.nullable().optional().describe('who proved to have made it; absent: nobody did'),
    approved_by: author.nullable().optional().describe('who published the draft that it was; absent: it was none'),
    push: fleetPush.optional().describe('of the fleet, the last one that it is or was derived from; absent: none'),
    text: z.string().max(mostContentCharacters).describe('content.json as the operator wrote it'),
  }),
).meta({ id: 'ContentDocument' });
export type ContentDocument = z.infer<typeof contentDocument>;

export const deviceBinding = passedOn(
  z.object({
    deviceId,
    clientName: z.string().min(1).max(64).describe('name of the player, for people'),
    screenSlug: slug.nullable().describe('null: it has a name, but is not bound'),
    forgotten: z
      .literal(true)
      .optional()
      .describe('the device was forgotten at this time; stored so that a box that was away does not restore it'),
    key: z
      .string()
      .regex(/^[\w-]{43}$/)
      .optional()
      .describe(
        'the first public key that a page has proved, where the id is not derived from one; Ed25519, base64url',
      ),
    updatedAt: instant.describe('increases with each change, even if the clock is set back: the newest wins'),
  }),
).meta({ id: 'DeviceBinding' });
export type DeviceBinding = z.infer<typeof deviceBinding>;

/** A binding of another box that is stored, and the one that it has replaced. */
export interface BindingNews {
  binding: Readonly<DeviceBinding>;
  before: Readonly<DeviceBinding> | undefined;
}

export const passedBinding = orUnread(deviceBinding, { deviceId, updatedAt: deviceBinding.shape.updatedAt }, 500);

/** Maximum number of stored bindings; a site has some hundreds. */
export const mostBindings = 10_000;

/** When a device was last connected, and to which box. */
export const deviceSighting = z
  .object({
    deviceId,
    nodeId: z.string().min(1).max(64).describe('id of the box'),
    at: instant.describe('by the clock of that box'),
  })
  .meta({ id: 'DeviceSighting' });
export type DeviceSighting = z.infer<typeof deviceSighting>;

/** Maximum number of device ids in one request. */
export const mostAskedDevices = 32;

export const peerDevicesQuery = z.object({
  deviceIds: z.string().describe(`device ids, separated by commas; at most ${mostAskedDevices} are read`),
});

export const peerDevices = z
  .object({ known: z.array(deviceId).max(mostAskedDevices).describe('the ids that are known') })
  .meta({ id: 'PeerDevices', description: 'those of the device ids that the box knows' });

/** Maximum number of claim codes in one request. */
export const mostAskedClaims = 100;

export const peerClaims = z
  .object({
    claims: z
      .array(z.object({ deviceId, claim: claimCode }))
      .max(mostAskedClaims)
      .describe('a device, and the code that was entered for it'),
  })
  .meta({ id: 'PeerClaims', description: 'claim codes that people have entered, and the devices they are for' });

export const peerClaimAnswers = z
  .object({
    right: z.array(z.boolean()).max(mostAskedClaims).describe('one per code: whether a page of this box shows it'),
  })
  .meta({ id: 'PeerClaimAnswers' });

export const peerBindings = z
  .object({ bindings: z.array(passedBinding).max(mostBindings).describe('one per device') })
  .meta({ id: 'PeerBindings', description: 'every device that a box knows' });

/** A takeover as boxes exchange it. Its end by an operator is a record too. */
export const takeoverRecord = passedOn(
  takeover
    .omit({ shown: true, expected: true })
    .extend({ endedAt: instant.nullable().describe('when an operator ended it; null: not ended') }),
  4_000,
).meta({ id: 'TakeoverRecord', description: 'a takeover as stored by boxes' });
export type TakeoverRecord = z.infer<typeof takeoverRecord>;

const { id: takeoverId, until, updatedAt, endedAt } = takeoverRecord.shape;
export const passedTakeover = orUnread(takeoverRecord, { id: takeoverId, until, updatedAt, endedAt }, 12_000);

/** Maximum number of stored takeovers, those that are over included. */
export const mostTakeovers = 400;

export const peerTakeovers = z
  .object({ takeovers: z.array(passedTakeover).max(mostTakeovers).describe('one per id') })
  .meta({ id: 'PeerTakeovers', description: 'takeovers that a box knows' });

/** A longer list of slugs is omitted, and the response has all screens. */
export const mostQueryCharacters = 4_096;

export const peerConnectionsQuery = z.object({
  screens: z
    .string()
    .max(mostQueryCharacters)
    .regex(/^[a-z0-9-]{1,64}(,[a-z0-9-]{1,64})*$/)
    .optional()
    .describe('slugs, separated by commas; absent: all screens'),
});

export const peerContentQuery = z.object({
  sha256: sha256.optional().describe('of the last document that lost at the box, to get that one; else the newest'),
});

/** A connection whose texts are cut as those of pages are: a box may pass on what it likes. */
const peerConnection = connection.overwrite(
  (given) =>
    Object.fromEntries(
      Object.entries(given).map(([name, value]) => [
        name,
        typeof value === 'string' ? cutText(value, name === 'page' ? 4_096 : 500) : value,
      ]),
    ) as Connection,
);

export const peerConnections = z
  .object({
    screens: z
      .array(z.object({ slug, connections: z.array(peerConnection).max(mostConnections).describe('oldest first') }))
      .max(10_000)
      .describe('one per screen'),
    unproven: z
      .array(z.string())
      .max(mostConnections)
      .optional()
      .describe(
        'ids of the connections that would have to prove that they are of the device that they name; where no screens are named',
      ),
  })
  .meta({ id: 'PeerConnections', description: 'the connections of this box alone, by screen' });
export type PeerConnections = z.infer<typeof peerConnections>;

/** What one box contributes to the overview of the site. */
export const peerSite = z
  .object({
    name: z.string().max(256).describe('host name of the machine'),
    warnings: z
      .array(reportedText(300))
      .overwrite((sentences) => sentences.slice(0, 200))
      .describe('sentences: what is wrong with the box; 200 of them, of 300 characters each'),
    screens: peerConnections.shape.screens.describe('the connections of this box alone, by screen'),
    stuck: z.array(z.string()).max(10_000).describe('ids of the connections whose page is stuck'),
    faults: z
      .array(pageFault)
      .max(mostConnections)
      .default([])
      .describe('what pages that are connected to it could not show last'),
    displays: z.array(deviceId).max(64).describe('devices that are displays of this box'),
    off: z.array(deviceId).max(64).default([]).describe('those of them that somebody has switched off'),
    names: z
      .array(z.object({ deviceId, names: displayNames }))
      .max(64)
      .default([])
      .describe('what orders call those that are off'),
    volume: z
      .number()
      .min(0)
      .max(1_000)
      .optional()
      .describe('of its sound output, in percent, as the hardware told last; absent: it has told none'),
    seen: z.array(deviceSighting).max(mostBindings).describe('devices that were connected to this box before'),
    waiting: z
      .array(waitingDevice)
      .max(mostWaiting)
      .default([])
      .describe('devices whose landing page is open on this box and that are not bound'),
  })
  .meta({ id: 'PeerSite', description: 'what one box knows of its displays and pages' });
export type PeerSite = z.infer<typeof peerSite>;

export const peerScreenshotQuery = z.object({
  connectionId: z.string().min(1).max(128).describe('id of a connection to the asked box'),
});

/** A picture of what a display shows. */
export const peerScreenshot = z
  .object({
    jpeg: z.base64().describe('the picture, base64'),
    capturedAt: instant.describe('when it was taken'),
  })
  .meta({ id: 'PeerScreenshot' });

/** Maximum number of peers of a box. */
export const mostPeers = 1_000;

/**
 * What boxes say to each other; raised only when boxes of the one before could not go on. Boxes of different protocols
 * send each other commands alone.
 */
export const protocol = 1;

/** Query of the asking box, by which the asked box discovers it. */
export const peerQuery = z.object({
  from: z.uuid().describe('the node id of the calling box'),
  port: z.coerce.number().int().min(1).max(65_535).describe('port on which the caller listens'),
  instance: z.string().max(64).optional().describe('id of this run, to detect boxes with the same node id'),
  news: z.literal('1').optional().describe('it has changes: contact it'),
  brief: z.literal('1').optional().describe('it learns of peers by gossip: the list is empty'),
});

/** A box with more devices omits the list. */
export const mostAdvertisedDevices = 1_000;

/** State that a box reports to its peers. `instance` is new with each start, which reveals a copied node id. */
export const peerState = passedOn(
  z.object({
    nodeId: z.uuid().describe('id of the box'),
    instance: z.string().max(64).describe('changes with each start'),
    site: z.string().max(256).describe('name of the site'),
    protocol: z.literal(protocol).describe('what boxes say to each other; others exchange only commands'),
    version: z.string().max(64).describe('of the program'),
    serverTime: z.number().describe('ms since the epoch'),
    startedAt: z.number().describe("when the service was started, by the site's clock, ms since the epoch"),
    peers: z
      .array(z.object({ nodeId: z.uuid().describe('id of the box'), url: z.url().max(512).describe('base URL') }))
      .max(mostPeers)
      .describe('reachable peers: one static peer leads to all boxes of a site'),
    content: contentVersion.nullable().describe('null: there has never been any'),
    bindings: sha256.describe('digest of all bindings'),
    media: sha256.describe('digest of the list of media'),
    takeovers: sha256.describe('digest of all takeovers'),
    drafts: sha256.optional().describe('digest of all drafts; absent: it has none'),
    shared: sha256.optional().describe('digest of the shared records; absent: it has none'),
    devices: z
      .array(deviceId)
      .max(mostAdvertisedDevices)
      .optional()
      .describe('bound devices that are connected to it; absent: unknown'),
    seq: z.int().nonnegative().describe('version of its own record'),
    alerts: boxAlerts.optional().describe('failures that it observes'),
    mqtt: z.literal(true).optional().describe('it is set up to publish the site over MQTT'),
    timeZone: z.string().max(64).optional().describe('of its schedules, an IANA name; absent: it lacks one'),
  }),
  2_000,
).meta({ id: 'PeerState' });
export type PeerState = z.infer<typeof peerState>;

/** What a box of another protocol tells of itself. */
const otherPeerState = z.object({
  nodeId: z.uuid(),
  site: z.string().max(256),
  version: z.string().max(64),
  protocol: z.int().refine((theirs) => theirs !== protocol),
});

/** The state of a box of any protocol. */
export const anyPeerState = z.unknown().transform((body, context) => {
  const { data } = otherPeerState.safeParse(body);
  if (data !== undefined) return data;
  const { success, data: state, error } = peerState.safeParse(body);
  if (success) return state;
  for (const { path, message } of error.issues) context.addIssue({ code: 'custom', path, message });
  return z.NEVER;
});
export type AnyPeerState = z.infer<typeof anyPeerState>;

/** Whether the box speaks the protocol of this one. */
export const isOfProtocol = (state: AnyPeerState): state is PeerState => state.protocol === protocol;

/** A box's reading of the site's clock, for peers to synchronize with. */
export const peerTime = z
  .object({
    nodeId: z.uuid().describe('id of the box'),
    established: z.boolean().describe('false: the box has just started and is still synchronizing'),
    received: reading.describe('when the request was received, ms since the epoch'),
    sent: reading.describe('when the response was sent'),
    wall: reading.describe("the box's own time of day then, from which boxes determine the majority"),
    synchronized: z
      .boolean()
      .default(false)
      .describe('whether that follows a time server, which decides without a majority'),
  })
  .meta({ id: 'PeerTime' });
export type PeerTime = z.infer<typeof peerTime>;

/** A file as a box serves it under `/media/NAME`. */
export const peerMedium = z
  .object({
    name: z.string().min(1).max(255).describe('name of the file'),
    size: z.int().nonnegative().describe('bytes'),
    sha256: sha256.describe('SHA-256 of the file, lower-case hex'),
    modifiedAt: instant.describe('of two files with the same name the newer one wins'),
  })
  .meta({ id: 'PeerMedium' });
export type PeerMedium = z.infer<typeof peerMedium>;

/** A medium that was deleted at the whole site. */
export const mediaDeletion = passedOn(
  z.object({
    name: z.string().min(1).max(255).describe('name of the file'),
    deletedAt: instant.describe("by the site's clock; files with this name up to this time are deleted"),
    sha256: sha256.nullable().describe('of the file that was deleted; null: not known'),
    renamed: z
      .object({
        to: z.string().min(1).max(255).describe('the name that the file has since then'),
        modifiedAt: instant.describe('modification time of the file under its new name'),
      })
      .optional()
      .describe('absent: the file was deleted, and not renamed'),
  }),
).meta({ id: 'MediaDeletion' });
export type MediaDeletion = z.infer<typeof mediaDeletion>;

/** Maximum number of stored deletions. */
export const mostDeletions = 10_000;

export const peerMedia = z
  .object({
    media: z.array(peerMedium).max(10_000).describe('one per file'),
    deleted: z.array(mediaDeletion).max(mostDeletions).describe('deleted media, kept for 400 days'),
    digest: sha256.describe('of both lists, as in the state of the box'),
  })
  .meta({ id: 'PeerMedia', description: 'all media of a box, and deletions' });
export type PeerMedia = z.infer<typeof peerMedia>;

export const peerDeletions = peerMedia.pick({ deleted: true }).meta({ id: 'PeerDeletions' });

export const peerRenditionsRequest = z.object({
  originals: z.array(sha256).max(200).describe('hashes of media that browsers show badly'),
});

/** What a box has of the rendition of an original. */
export const peerRendition = z
  .object({
    original: sha256.describe('SHA-256 of the original'),
    state: z.enum(['none', 'queued', 'converting', 'ready', 'failed']).describe('as the console shows it'),
    isUpload: z.boolean().describe('this box took the upload, so that it converts it'),
    isAble: z.boolean().describe('this box has the programs for it, and may convert'),
    reason: z.string().max(1_000).nullable().describe('why it failed'),
    rendition: z
      .object({
        profile: z.enum(['remux', 'h264', 'picture', 'pdf']).describe('how it was made'),
        sha256: sha256.describe('of the rendition'),
        size: z.int().nonnegative().describe('bytes'),
        mediaType: z.string().max(100).describe('RFC 6838'),
      })
      .nullable()
      .describe('only if the state is ready'),
  })
  .meta({ id: 'PeerRendition' });
export type PeerRendition = z.infer<typeof peerRendition>;

export const peerRenditions = z
  .object({ renditions: z.array(peerRendition).max(200).describe('of the originals that this box has') })
  .meta({ id: 'PeerRenditions' });

export const peerCopyRequest = z.object({
  url: z.string().min(1).max(8_192).describe('address of a remote medium'),
});

/** What a box has of a remote medium, for the other boxes of its site. */
export const peerCopy = z
  .object({
    state: z
      .enum(['here', 'coming', 'failed', 'unknown'])
      .describe('unknown: its content does not name the address, or it is waiting for another box'),
    copy: z
      .object({
        sha256,
        size: z.int().nonnegative().describe('bytes'),
        etag: z.string().nullable().describe('of the origin'),
        lastModified: z.string().nullable().describe('of the origin'),
        life: z.number().nonnegative().describe('freshness lifetime, ms'),
      })
      .nullable()
      .describe('only if the state is here'),
  })
  .meta({ id: 'PeerCopy' });
export type PeerCopy = z.infer<typeof peerCopy>;
