/** What the sites of a fleet and its hub say to each other over NATS. */
import { z } from 'zod';
import type { CommandResult } from './commands.ts';
import { contentIssue } from './content-terms.ts';
import { instant, operator, sha256 } from './terms.ts';

/** The name of a site, which is a token of subjects. */
export const fleetSite = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, '1 to 64 of a-z, A-Z, 0-9, _ and -');

/** The operator of what comes from the hub, in the audit and in the versions of the content. */
export const fleetOperator = 'fleet';

/** Largest wanted content as it is stored, gzipped: nats-server takes messages up to 1 MiB, headers included. */
export const mostStoredBytes = 1000 * 1024;
/** Largest command in a message, bytes. */
export const mostCommandBytes = 64 * 1024;

/** Largest status of a box, as the hub takes it. */
export const mostStatusBytes = 16 * 1024;
/** Largest play or alert as the hub takes it, headers included. */
export const mostRecordBytes = 64 * 1024;
/** How far ahead a command may expire, ms. */
export const mostCommandMs = 300_000;

/** A push of the fleet: a document that a site is to play. */
export const fleetPush = z
  .object({
    id: z.string().min(1).max(128).describe('a site takes each push once'),
    at: instant.describe('when it was pushed, by the clock of the hub'),
    sha256: sha256.describe('of the document, uncompressed'),
    site: fleetSite.describe('the site that it was pushed to'),
  })
  .meta({ id: 'FleetPush' });
export type FleetPush = z.infer<typeof fleetPush>;

/** What a command of the fleet has beyond the body of a command request. */
export const fleetCommand = z.object({
  id: z
    .string()
    .regex(/^[A-Za-z0-9._:-]{1,128}$/, '1 to 128 of A-Z a-z 0-9 . _ : -')
    .describe('of the command; a repetition within five minutes is ignored'),
  expiresAt: z
    .number()
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .describe(
      "ms since the epoch, by the fleet's clock, at most 5 minutes ahead: the command is dropped after this time",
    ),
  site: z.string().describe('the site that it is for; another one refuses it'),
  target: z.string().describe('`all`, a slug or `tag:NAME`, as in the subject'),
});

/** The answer of a site to a command, as far as the command line reads it. */
export const fleetAnswer = z.union([
  z.object({ sent: z.int().min(0), degraded: z.boolean() }),
  z.object({ error: z.object({ code: z.string().regex(/^[a-z_]{1,64}$/), message: z.string().max(2_000) }) }),
]);
export type FleetAnswer = z.infer<typeof fleetAnswer>;

/** The answer to a command for `all` or a tag; to one for a single screen it is that of a command request. */
export interface FleetCommandResult extends Pick<CommandResult, 'degraded'> {
  screen: null;
  screenSlug: null;
  command: string;
  connectionId: null;
  /** Connections of all the screens that the command was written to. */
  sent: number;
}

/** Status of a box: the value of `SITE.NODE` in the bucket `signage-status`. */
export const fleetBox = z
  .object({
    nodeId: z.string().max(64).describe('id of the box'),
    site: fleetSite,
    name: z.string().max(256).describe('host name of the machine'),
    url: z.string().max(512).nullable().describe('base URL on its LAN; null: unknown'),
    version: z.string().max(64).describe('of the program'),
    status: z.enum(['ok', 'degraded', 'failing']).describe('as in /healthz'),
    warnings: z.array(z.string().max(300)).max(10).describe('the first of the sentences in /healthz'),
    connections: z.int().describe('live player connections of the box'),
    startedAt: instant,
    at: instant.describe("by the box's clock"),
  })
  .meta({ id: 'FleetBox' });
export type FleetBox = z.infer<typeof fleetBox>;

/** How the wanted content of a site stands. */
export const wantedStates = ['none', 'pending', 'applied', 'diverged', 'refused'] as const;

/** What a site plays: the value of `SITE.content` in the bucket `signage-status`. */
export const fleetContent = z
  .object({
    site: fleetSite,
    sha256: sha256.nullable().describe('of the version that plays, as in /console/api/content; null: nothing plays'),
    changedAt: instant.nullable().describe('when it was edited'),
    operator,
    push: fleetPush.nullable().describe('the last push that the site took; null: none'),
    wanted: sha256
      .nullable()
      .describe('of the wanted document, uncompressed, as stored in the bucket; null: there is none'),
    wantedPush: z.string().nullable().describe('id of the push that wants it'),
    state: z
      .enum(wantedStates)
      .describe(
        'diverged: applied, and since then edited at the site, or pushed before the last one that the site took; refused: see errors; pending: not processed yet',
      ),
    diverged: z.boolean().describe('whether the state is diverged'),
    errors: z.array(contentIssue).max(5).describe('why the wanted document is refused, or could not be written'),
    nodeId: z.string().max(64).describe('id of the reporting box'),
    at: instant.describe("by the box's clock"),
  })
  .meta({ id: 'FleetContent' });
export type FleetContent = z.infer<typeof fleetContent>;

export const fleetHealth = z
  .object({
    status: z
      .enum(['connected', 'unprepared', 'away'])
      .describe(
        'connected: the hub takes the status of this box; unprepared: it does not, for the reason; away: no connection',
      ),
    url: z.string().describe('of the hub, without credentials'),
    since: instant.describe('when the connection was made or lost'),
    reason: z.string().nullable().describe('why it is away or unprepared; completes "the hub ..."'),
    refused: z
      .array(z.string())
      .max(10)
      .describe('what the hub does not take, and why: sentences, which are in `warnings` as well'),
    content: fleetContent
      .pick({ wanted: true, wantedPush: true, state: true, diverged: true, errors: true })
      .describe('the content that the fleet wants here'),
  })
  .meta({ id: 'FleetHealth' });
export type FleetHealth = z.infer<typeof fleetHealth>;
