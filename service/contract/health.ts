/** The response of `GET /healthz`. */
import { z } from 'zod';
import { contentIssue } from './content-issue.ts';
import { fleetHealth } from './fleet.ts';
import { contentVersion } from './peers.ts';
import { sourceStatus } from './playlist.ts';
import { clockStates } from './socket.ts';
import { instant, slug, variants } from './terms.ts';

/** State of a peer in `/healthz`. */
export const peerHealth = z
  .object({
    nodeId: z.string().nullable().describe('null: a static peer that never answered'),
    url: z.string().describe('where it answers'),
    state: z.enum(['alive', 'away', 'unknown']).describe('unknown: not asked yet'),
    reason: z.string().nullable().describe('why it is away; completes "the box ..."'),
    lastContactAt: instant.nullable(),
    version: z.string().nullable().describe('of the program'),
  })
  .meta({ id: 'PeerHealth' });
export type PeerHealth = z.infer<typeof peerHealth>;

const gaps = z
  .object({
    count: z.int().describe('since the start'),
    p50: z.number().nullable().describe('ms; null: there was no swap'),
    p99: z.number().nullable().describe('ms'),
    max: z.number().nullable().describe('ms'),
  })
  .meta({
    id: 'Gaps',
    description:
      'how long no intended picture was on the screen as slides were swapped, in ms, over the last 1,000 swaps',
  });
export type Gaps = z.infer<typeof gaps>;

const pageHealth = z
  .object({
    connectionId: z.string().describe('id of the connection'),
    screenSlug: slug,
    clock: z.enum(clockStates).nullable().describe('whose clock can be right; null: the page has not said'),
    gaps,
    lastFault: z
      .object({
        at: instant,
        slideId: z.string().nullable().describe('null: a redirect, the playlist or the plays'),
        reason: z.string().describe('why it was not shown'),
      })
      .nullable()
      .describe('the newest thing that the page could not show; slideId null: a redirect, the playlist or the plays'),
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
    bytes: z.int().describe('their size together'),
    quota: z.int().describe("bytes that copies, uploads and peers' media may have together"),
    pending: z.int().describe('media that were not fetched yet, and have not failed'),
    failed: z
      .array(
        z.object({
          url: z.string().describe('without credentials and query'),
          reason: z.string().describe('completes "it was not fetched: ..."'),
          held: z.boolean().describe('true where an earlier copy plays meanwhile'),
          nextAt: instant.describe('when it is tried again'),
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

/** State of replication in `/healthz`. */
export const replicationHealth = z
  .object({
    content: contentVersion
      .extend({ changedAt: instant })
      .nullable()
      .describe('what plays here; null: there never was any'),
    lost: z.array(z.string()).describe('files beside content.json: what stood in it until an edit on another box won'),
    lostUploads: z
      .array(z.string())
      .describe(
        'files in .lost of the upload directory, kept for 30 days: uploads that lost against another box, and media that this box alone had after it was away for more than 400 days',
      ),
    refused: z
      .array(
        z.object({ nodeId: z.string().describe('id of the peer'), reason: z.string().describe('why it is not taken') }),
      )
      .describe('what peers offered and is not taken, the newest last'),
    media: z
      .object({
        named: z.int().describe('files under /media/ that the content names'),
        here: z.int().describe('those of them that are here, as new as anywhere'),
        missing: z
          .array(
            z.object({
              name: z.string().describe('name of the file'),
              size: z.int().nullable().describe('bytes; null: no box has it'),
              reason: z.string().describe('why it is missing'),
            }),
          )
          .describe('the others; size in bytes, null where no box has it; the first hundred'),
      })
      .describe('files under /media/ that the content names'),
  })
  .meta({ id: 'Replication' });
export type ReplicationHealth = z.infer<typeof replicationHealth>;

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
          slide: z.string().nullable().describe('id of the slide that was painted last'),
          lastBeatAt: instant.nullable().describe('time of the last heartbeat'),
        }),
      )
      .describe('one a display'),
    rendering: z.enum(['hardware', 'software']).describe('how pages are painted'),
    recoveries: z
      .object({
        reload: z.int().describe('pages that were loaded again'),
        recreate: z.int().describe('pages that were made again'),
        fallback: z.int().describe('times that the local page was shown'),
        relaunch: z.int().describe('restarts of the app'),
      })
      .describe('actions of the recovery policy since the start'),
    lastRecovery: z
      .object({
        at: instant,
        step: z.string().describe('as in recoveries'),
        reason: z.string().describe('what had failed'),
      })
      .nullable()
      .describe('null: there was none since the start'),
    displays: z
      .object({
        on: z.boolean().describe('as the opening hours of its screens have it'),
        changesAt: instant.nullable().describe('null: not within two weeks'),
        by: z
          .enum(['none', 'cec', 'sway', 'dpms', 'blackout'])
          .describe('what switches them; none: nothing had to yet; blackout: nothing can, so they are black'),
      })
      .describe('whether they are switched on'),
    updates: z
      .object({
        ready: z.string().nullable().describe('the version to be installed in the next quiet hours'),
        onTrial: z.boolean().describe('the running version is installed and still on trial'),
        failed: z.array(z.string()).describe('versions that failed on this box and are not installed again'),
      })
      .describe('versions of the program'),
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
      .describe('sentences: what makes the status less than ok, and what is wrong with the settings'),
    nodeId: z.string().describe('id of this box'),
    content: z
      .object({
        status: z
          .enum(['ok', 'invalid'])
          .describe('invalid: the file is at fault; the last good content plays, where there is any'),
        errors: z.array(contentIssue).describe('why the file is refused; the first twenty'),
        warnings: z.array(contentIssue).describe('what in the content that plays will not play as intended'),
      })
      .describe('content.json'),
    store: z
      .object({ faults: z.array(z.string()).describe('sentences; empty: nothing is wrong') })
      .describe('the files that the service keeps'),
    rssFeeds: z.array(sourceHealth).describe('the feeds of the content'),
    apiSources: z.array(sourceHealth).describe('the API sources of the content'),
    peers: z.array(peerHealth).describe('the other boxes of the site'),
    ffmpeg: z
      .object({
        path: z.string().describe('path of the program'),
        source: z.enum(['setting', 'ffmpeg-static', 'PATH']).describe('where it was found'),
        version: z.string().describe('as it says itself'),
      })
      .nullable()
      .describe('null: none was found, so there are no streams'),
    connections: z.int().describe('number of live player connections'),
    copies: copiesHealth.describe('the copies of remote media'),
    site: z.string().describe('name of the site'),
    replication: replicationHealth.describe('content and media of the site'),
    gaps,
    pages: z.array(pageHealth).describe('at most 50, those with the longest gaps first'),
    sync: z
      .object({
        reference: z.string().describe('node id of the box whose clock is the time of the site; it may be this one'),
        established: z.boolean().describe('false: it has just started and is still synchronizing'),
        offset: z.number().describe("ms by which the site's time is ahead of this box's time of day"),
        roundTrip: z.number().nullable().describe('ms to the reference and back; null: this box is the reference'),
        swaps: skewSummary.nullable().describe('timing errors of the slide changes of synchronized pages'),
        videos: skewSummary.nullable().describe('position errors of synchronized videos'),
      })
      .describe('the time of the site'),
    fleet: fleetHealth.optional().describe('the hub of the fleet; absent where none is configured'),
    kiosk: kioskHealth.optional().describe('absent headless'),
  })
  .meta({ id: 'Health' });
export type Health = z.infer<typeof health>;
