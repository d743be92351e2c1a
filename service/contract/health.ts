/** The response of `GET /healthz`. */
import { z } from 'zod';
import { replacedVersion } from './console/content.ts';
import { contentIssue } from './content-terms.ts';
import { fleetHealth } from './fleet.ts';
import { networkFault } from './onboarding.ts';
import { contentVersion } from './peers.ts';
import { sourceStatus } from './playlist.ts';
import { clockStates } from './socket.ts';
import { extended, instant, slug, variants } from './terms.ts';

export const peerHealth = z
  .object({
    nodeId: z.string().nullable().describe('null: a static peer that has never responded'),
    url: z.string().describe('base URL'),
    state: z.enum(['alive', 'away', 'unknown']).describe('unknown: not contacted yet'),
    reason: z.string().nullable().describe('why it is away; completes "the box ..."'),
    lastContactAt: instant.nullable(),
    version: z.string().nullable().describe('of the program'),
  })
  .meta({ id: 'PeerHealth' });
export type PeerHealth = z.infer<typeof peerHealth>;

/** HTTPS in `/healthz`. */
const httpsHealth = z
  .object({
    port: z.int().nullable().describe('null: it does not answer; `warnings` has the reason'),
    source: z
      .enum(['files', 'site', 'box'])
      .describe('files: of SIGNAGE_TLS_CERT; site: signed by the authority of the site; box: self-signed'),
    fingerprint: z.string().nullable().describe('SHA-256 of the certificate; null: there is none'),
    notAfter: instant.nullable().describe('end of the certificate'),
    root: z.string().nullable().describe('SHA-256 of the root certificate of the site; null: there is none'),
    leftOut: z
      .array(z.string())
      .describe('names and addresses of this box that the authority of the site may not certify'),
  })
  .meta({ id: 'HttpsHealth' });

const gaps = z
  .object({
    count: z.int().describe('since the start'),
    p50: z.number().nullable().describe('ms; null: there was no slide change'),
    p99: z.number().nullable().describe('ms'),
    max: z.number().nullable().describe('ms'),
  })
  .meta({
    id: 'Gaps',
    description: 'how long the screen was empty during slide changes, in ms, over the last 1,000 changes',
  });
export type Gaps = z.infer<typeof gaps>;

const pageHealth = z
  .object({
    connectionId: z.string().describe('id of the connection'),
    screenSlug: slug,
    clock: z.enum(clockStates).nullable().describe('which clocks are plausible; null: not reported yet'),
    gaps,
    lastFault: z
      .object({
        at: instant,
        slideId: z.string().nullable().describe('null: a redirect, the playlist or the plays'),
        reason: z.string().describe('why the item was not shown'),
      })
      .nullable()
      .describe('the latest item that the page could not show; slideId null: a redirect, the playlist or the plays'),
  })
  .meta({ id: 'PageHealth' });
export type PageHealth = z.infer<typeof pageHealth>;

const skewSummary = z
  .object({
    count: z.int().describe('since the start'),
    p50: z.number().describe('ms'),
    p95: z.number().describe('ms'),
    max: z.number().describe('ms'),
  })
  .describe('ms, early or late, of the last thousand');
export type SkewSummary = z.infer<typeof skewSummary>;

/** The copies of the remote media that the content names. */
export const copiesHealth = z
  .object({
    count: z.int().describe('files'),
    bytes: z.int().describe('total size'),
    quota: z.int().describe("limit of copies, uploads and peers' media together, bytes"),
    pending: z.int().describe('media that are still to be downloaded, and have not failed'),
    failed: z
      .array(
        z.object({
          url: z.string().describe('without credentials and query'),
          reason: z.string().describe('completes "it was not fetched: ..."'),
          held: z.boolean().describe('true if an earlier copy plays meanwhile'),
          nextAt: instant.describe('time of the next attempt'),
        }),
      )
      .describe('the first fifty'),
  })
  .meta({ id: 'CopiesHealth' });
export type CopiesHealth = z.infer<typeof copiesHealth>;

const sourceHealth = z.object({
  id: z.string().describe('id of the source'),
  status: sourceStatus,
  fetched_at: instant.nullable().describe('when a fetch last succeeded'),
  reason: z.string().nullable().describe('why the last fetch failed; null: it did not'),
});

export const replicationHealth = z
  .object({
    content: contentVersion
      .extend({ changedAt: instant })
      .nullable()
      .describe('the version that plays; null: there has never been one'),
    lost: z
      .array(z.string())
      .describe('files next to content.json with edits that lost against an edit on another box'),
    lostUploads: z
      .array(z.string())
      .describe(
        'files in `.lost` in the upload directory, kept for 30 days: uploads that lost against another box, and media that only this box had after an absence of more than 400 days',
      ),
    refused: z
      .array(
        z.object({ nodeId: z.string().describe('id of the peer'), reason: z.string().describe('why it is rejected') }),
      )
      .describe('content and records of peers that were rejected, newest last'),
    media: z
      .object({
        named: z.int().describe('files under /media/ that the content names'),
        here: z.int().describe('those of them that this box has in the newest version'),
        missing: z
          .array(
            z.object({
              name: z.string().describe('name of the file'),
              size: z.int().nullable().describe('bytes; null: no box has it'),
              reason: z.string().describe('why it is missing'),
            }),
          )
          .describe('the others; the first hundred'),
      })
      .describe('files under /media/ that the content names'),
  })
  .meta({ id: 'Replication' });
export type ReplicationHealth = z.infer<typeof replicationHealth>;

const bytes = z.int().nonnegative();

export const machineHealth = z
  .object({
    uptime: z.number().describe('seconds since the system started'),
    memory: z
      .object({ total: bytes.describe('all of it'), available: bytes.describe('without swapping') })
      .describe('bytes'),
    disk: z
      .object({ total: bytes.describe('its size'), free: bytes.describe('for this program') })
      .nullable()
      .describe('the one with the data directory, bytes; null: the system does not tell'),
    temperature: z.number().nullable().describe('of the hottest sensor, °C; null: the system does not tell'),
    throttled: z
      .boolean()
      .nullable()
      .describe('whether the processor was slowed down within a minute; null: the system does not tell'),
  })
  .meta({ id: 'MachineHealth' });
export type MachineHealth = z.infer<typeof machineHealth>;

export const videoFrames = z.object({
  decoded: z.int().describe('frames that were shown'),
  dropped: z.int().describe('frames that came too late'),
});
export type VideoFrames = z.infer<typeof videoFrames>;

/** State of the kiosk in `/healthz`. */
const kioskHealth = z
  .object({
    screens: z
      .array(
        z.object({
          display: z.string().describe("the system's name for it"),
          deviceId: z.string().describe('id of the device'),
          state: z
            .enum(['starting', 'playing', 'recovering', 'fallback'])
            .describe('fallback: the local page is shown'),
          off: z
            .boolean()
            .optional()
            .describe('true: it was switched off by hand, until its opening hours change; absent: it was not'),
          number: z
            .int()
            .min(1)
            .optional()
            .describe('of one that was switched off by hand: its number from left to right; absent: it was not'),
          slide: z.string().nullable().describe('id of the last painted slide'),
          lastBeatAt: instant.nullable().describe('time of the last heartbeat'),
          gpu: z.enum(['hardware', 'software']).describe('what composes the pages'),
          gpu_features: z.record(z.string(), z.string()).describe('as the runtime reports them'),
          video_decode: z
            .enum(['hardware', 'software', 'unknown'])
            .describe('unknown: the runtime does not tell for the film that plays'),
          video: videoFrames.nullable().describe('frames of the last minute; null: no film was on'),
        }),
      )
      .describe('one per display'),
    rendering: z.enum(['hardware', 'software']).describe('how pages are painted'),
    compositor: z
      .object({
        renderer: z
          .enum(['gpu', 'pixman', 'none'])
          .describe(
            'pixman: in software until the next boot, as it ended early with the GPU; none: it does not start, so there are no windows',
          ),
        reason: z
          .string()
          .nullable()
          .describe('why it does not draw with the GPU; completes "no display can be opened: ..."; null: it does'),
      })
      .nullable()
      .describe('the compositor of the session of a kiosk on Linux; null: the kiosk runs elsewhere'),
    network: networkFault
      .nullable()
      .describe('of a box from an image; null: it is as kiosk.network says, or nothing is said'),
    system: z
      .object({
        slot: z.enum(['A', 'B']).describe('the one that runs'),
        version: z.string().describe('of what is in it'),
        onTrial: z.boolean().describe('it was installed and has not proved healthy yet'),
        left: z
          .object({
            slot: z.enum(['A', 'B']).describe('which of the two'),
            why: z
              .enum(['trial', 'starts', 'unreadable'])
              .describe('trial: it did not play in three starts; starts: ten in a row did not reach the player'),
          })
          .nullable()
          .describe('the one that was given up; null: none since the last that proved healthy'),
        fault: z.string().nullable().describe('why the last bundle was not installed; null: it was, or there was none'),
      })
      .nullable()
      .describe('the two systems of an image, of which one runs; null: the kiosk is installed in another way'),
    recoveries: z
      .object({
        reload: z.int().describe('page reloads'),
        recreate: z.int().describe('recreated pages'),
        fallback: z.int().describe('switches to the local page'),
        relaunch: z.int().describe('restarts of the app'),
      })
      .describe('actions of the recovery policy since the start'),
    lastRecovery: z
      .object({
        at: instant,
        step: z.string().describe('as in recoveries'),
        reason: z.string().describe('what failed'),
      })
      .nullable()
      .describe('null: there was none since the start'),
    displays: z
      .object({
        on: z.boolean().describe('according to the opening hours of the screens'),
        changesAt: instant.nullable().describe('null: not within two weeks'),
        by: z
          .enum(['none', 'cec', 'sway', 'dpms', 'blackout'])
          .describe('method of switching; none: not needed yet; blackout: displays cannot be switched and are black'),
      })
      .describe('whether they are switched on'),
    sessions: z
      .array(
        z.object({
          name: z.string().describe('as slides name it'),
          origin: z.string().describe('of their pages'),
          signed_in_at: instant.nullable().describe('when somebody signed in at the box; null: nobody has'),
          signed_out: z.array(z.string()).describe('addresses of slides whose pages turned out to be signed out'),
        }),
      )
      .describe('the sessions of pages that somebody signs in to on the maintenance page'),
    updates: z
      .object({
        ready: z.string().nullable().describe('the version to be installed in the next quiet hours'),
        onTrial: z.boolean().describe('the running version is installed and still on trial'),
        failed: z.array(z.string()).describe('versions that failed on this box and are not installed again'),
        fault: z
          .string()
          .nullable()
          .describe('why a newer version is not installed; null: it is to be, there is none, or no source was reached'),
      })
      .describe('versions of the program; of a box from an image, of its system'),
  })
  .meta({ id: 'KioskHealth' });
export type KioskHealth = z.infer<typeof kioskHealth>;

/** The response of `GET /healthz`. What is wrong is described in sentences. */
export const health = z
  .object({
    status: z
      .enum(['ok', 'degraded', 'failing'])
      .describe('degraded: something is wrong, and warnings say what; failing: there is nothing to show'),
    version: z.string().describe('of the program'),
    variant: z.enum(variants).describe('of the interface'),
    startedAt: instant,
    uptime: z.number().describe('seconds'),
    warnings: z
      .array(z.string())
      .describe('problems, as sentences: why the status is not ok, and what is wrong with the settings'),
    nodeId: z.string().describe('id of this box'),
    content: z
      .object({
        status: z
          .enum(['ok', 'invalid'])
          .describe('invalid: the file has errors; the last valid content plays, if there is any'),
        errors: z.array(contentIssue).describe('errors in the file; the first twenty'),
        warnings: z.array(contentIssue).describe('parts of the current content that will not play as intended'),
        replaced: z
          .array(replacedVersion)
          .describe(
            'versions of the last day that were replaced by one that had not seen them, newest first; at most 20',
          ),
      })
      .describe('content.json'),
    store: z
      .object({ faults: z.array(z.string()).describe('sentences; empty: nothing is wrong') })
      .describe('the files that the service stores'),
    rssFeeds: z.array(sourceHealth).describe('the feeds of the content'),
    apiSources: z.array(sourceHealth).describe('the API sources of the content'),
    peers: z.array(peerHealth).describe('the other boxes of the site'),
    ffmpeg: z
      .object({
        path: z.string().describe('path of the program'),
        source: z.enum(['setting', 'ffmpeg-static', 'PATH']).describe('where it was found'),
        version: z.string().describe('as ffmpeg reports it'),
      })
      .nullable()
      .describe('null: not found, so streams are not available'),
    connections: z.int().describe('number of live player connections'),
    copies: copiesHealth.describe('the copies of remote media'),
    site: z.string().describe('name of the site'),
    replication: replicationHealth.describe('content and media of the site'),
    gaps,
    pages: z.array(pageHealth).describe('at most 50, those with the longest gaps first'),
    sync: z
      .object({
        reference: z.string().describe('node id of the box whose clock defines the time of the site; may be this box'),
        established: z.boolean().describe('false: it has just started and is still synchronizing'),
        offset: z.number().describe("ms by which the site's time is ahead of this box's time of day"),
        roundTrip: z
          .number()
          .nullable()
          .describe('round-trip time to the reference, ms; null: this box is the reference'),
        swaps: skewSummary.nullable().describe('timing errors of the slide changes of synchronized pages'),
        videos: skewSummary.nullable().describe('position errors of synchronized videos'),
      })
      .describe('the time of the site'),
    https: httpsHealth.optional().describe('HTTPS of this box; absent where it is off'),
    fleet: fleetHealth.optional().describe('the hub of the fleet; absent if none is configured'),
    machine: extended(machineHealth.optional().describe('what the machine tells of itself')),
    kiosk: kioskHealth.optional().describe('absent headless'),
  })
  .meta({ id: 'Health' });
export type Health = z.infer<typeof health>;
