/** The site at a glance: boxes, screens, devices, connections and takeovers; logs of boxes; the audit of changes. */
import { z } from 'zod';
import { connection } from '../connections.ts';
import { screen } from '../playlist.ts';
import { author, deviceId, instant, operator, reportedText, sha256, slug, timeBound } from '../terms.ts';
import { takeover } from './takeovers.ts';

export const siteBox = z
  .object({
    nodeId: z.string().nullable().describe('null: a static peer that has never responded'),
    name: z.string().describe('host name of the machine, or its address while that is unknown'),
    url: z.string().describe('base URL of the box'),
    version: z.string().nullable().describe('of the program; null: unknown'),
    status: z.enum(['here', 'alive', 'away']).describe('here: the responding box'),
    lastSeenAt: instant.nullable().describe('when it last responded; null: never'),
    warnings: z.array(z.string()).describe('problems of the box, as sentences; empty if it is away'),
  })
  .meta({ id: 'SiteBox' });

/**
 * - `playing`: connected.
 * - `closed`: outside the opening hours of its screen.
 * - `stuck`: connected, and its slide has not changed for three of its lengths, or it reports faults alone.
 * - `away`: not connected.
 * - `never`: bound, and never seen.
 */
export const deviceStates = ['playing', 'closed', 'stuck', 'away', 'never'] as const;
export type DeviceState = (typeof deviceStates)[number];

export const displayNames = z
  .array(z.string().min(1).max(200))
  .max(2)
  .describe('of a display: the name that the system has for it, and its number from left to right');

export const siteDevice = z
  .object({
    deviceId,
    clientName: z.string().nullable().describe('name of the device; null: none'),
    nodeId: z.string().nullable().describe('the box to which it is or was last connected; null: never'),
    lastSeenAt: instant.nullable().describe('null: never'),
    state: z.enum(deviceStates).describe('stuck: connected, but its slides do not change or it reports only errors'),
    off: z
      .boolean()
      .optional()
      .describe('true: somebody has switched it off, until its opening hours change; absent: nobody has'),
    names: displayNames
      .optional()
      .describe('of one that is off: its name and number on its box, by which orders can mean it too; absent: unknown'),
  })
  .meta({ id: 'SiteDevice', description: "a device that is expected: bound to the screen, or a kiosk's display" });

/** Of a slide that a page could not show: in the answers of boxes and of the console. */
export const pageFault = z
  .object({
    connectionId: z.string().max(128).describe('id of the connection of the page'),
    at: instant,
    slideId: reportedText().nullable().describe('null: a redirect, the playlist or the plays'),
    reason: reportedText().describe('why it was not shown'),
  })
  .meta({ id: 'PageFault', description: 'the latest item that a page could not show, and has not shown since' });

export const siteScreen = z
  .object({
    screen,
    tags: z.array(z.string()).describe('tags of the screen in the content'),
    devices: z.array(siteDevice).describe('expected devices'),
    connections: z.array(connection).describe('the live connections on all boxes, oldest first'),
    faults: z.array(pageFault).optional().describe('what their pages could not show last; absent: nothing'),
  })
  .meta({ id: 'SiteScreen' });

/** Maximum number of waiting devices that a box lists. */
export const mostWaiting = 100;

export const waitingDevice = z
  .object({ deviceId, nodeId: z.string().max(64).describe('the box that serves its landing page') })
  .meta({ id: 'WaitingDevice', description: 'a device without a screen whose landing page is open' });
export type WaitingDevice = z.infer<typeof waitingDevice>;

export const siteOverview = z
  .object({
    site: z.string().describe('name of the site'),
    nodeId: z.string().describe('id of the responding box'),
    now: instant
      .optional()
      .describe('the time of the site, by which takeovers begin and end; absent: the box has an older version'),
    timeZone: z.string().optional().describe('time zone of the schedules of the responding box, an IANA name'),
    content: z
      .object({
        sha256: sha256.nullable().describe('of the document that plays, as in GET /console/api/content; null: none'),
        changedAt: instant.nullable().describe('when it was last edited; null: never'),
        status: z
          .enum(['ok', 'invalid'])
          .describe('invalid: the file has errors, and the last valid content plays, if there is any'),
      })
      .describe('the content of the responding box'),
    boxes: z.array(siteBox).describe('the responding box first'),
    screens: z.array(siteScreen).describe('in the order of the content'),
    waiting: z
      .array(waitingDevice)
      .describe(`devices whose landing page is open and that are not bound; at most ${mostWaiting} of each box`),
    takeovers: z.array(takeover).describe('active and upcoming takeovers, the earliest first'),
    degraded: z.boolean().describe('true if a known box did not respond within 1 s'),
  })
  .meta({ id: 'SiteOverview' });
export type SiteOverview = z.infer<typeof siteOverview>;

/** Levels of log lines, lowest first, and their numbers in the lines. */
export const logLevels = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60 } as const;
export type LogLevel = keyof typeof logLevels;

/** Lines that a box keeps in memory. */
export const mostLogLines = 1_000;

export const boxLogQuery = z.object({
  level: z
    .enum(Object.keys(logLevels) as [LogLevel, ...LogLevel[]])
    .default('info')
    .describe('lines of this level and above'),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(mostLogLines)
    .default(200)
    .describe('maximum number of lines; the newest are returned'),
});
export type BoxLogQuery = z.infer<typeof boxLogQuery>;

export const boxLog = z
  .object({
    lines: z
      .array(
        z.looseObject({
          level: z.number().describe('10 trace, 20 debug, 30 info, 40 warn, 50 error, 60 fatal'),
          time: z.string().describe('ISO 8601'),
          msg: z.string().optional().describe('what happened'),
        }),
      )
      .describe('lines of the log, oldest first'),
  })
  .meta({ id: 'BoxLog' });
export type BoxLog = z.infer<typeof boxLog>;

/** Header of a screenshot: when it was taken. */
export const capturedAtHeader = 'x-signage-captured-at';

/** Longest side of a screenshot, pixels. */
export const mostScreenshotPixels = 1280;

/** Kinds of things that are changed. */
export type AuditSubject =
  | 'authority'
  | 'box'
  | 'content'
  | 'device'
  | 'draft'
  | 'medium'
  | 'person'
  | 'publication'
  | 'renaming'
  | 'screen'
  | 'secret'
  | 'takeover'
  | 'trigger';

export const auditRecord = z
  .object({
    at: instant,
    node_id: z.string().describe('id of the box that received the request'),
    operator,
    person: author
      .nullable()
      .default(null)
      .describe('who signed with a key of their own, proven; null: the secret, a page, or nobody'),
    address: z.string().nullable().describe('address of the client; null: the box itself, or many clients'),
    action: z.string().describe('what was done, such as `content.publish`'),
    target: z.string().nullable().describe('what it was done to: a slug, a device id, a file name, ...'),
    before: z.unknown().describe('the target before the change; null: it did not exist, or has no state'),
    after: z
      .unknown()
      .describe('the target after the change, or fields of the request if it has no state; null: it does not exist'),
    result: z.string().describe('`ok`, or the code of the error'),
  })
  .meta({ id: 'AuditRecord' });
export type AuditRecord = z.infer<typeof auditRecord>;

/** Maximum number of records in an answer. */
export const maxAuditRecords = 1_000;

const auditFilter = {
  operator: operator.unwrap().optional().describe('name of the person; absent: all, and those without a name'),
  screen: slug.optional().describe('slug: what was done to it, its displays, and takeovers of it; absent: all'),
  kind: z
    .string()
    .regex(/^[a-z]{1,30}$/, '1 to 30 letters a-z')
    .optional()
    .describe('first part of `action`, such as `takeover`; absent: all'),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(maxAuditRecords)
    .default(maxAuditRecords)
    .describe(
      'maximum number of records; more of the same millisecond as the last one are added. The next page has the `at` of the last record as `to`',
    ),
};

export const auditQuery = z.object({
  from: timeBound
    .optional()
    .describe('on `at`, inclusive: a date (midnight of the site) or ISO 8601; without an offset, of the site'),
  to: timeBound.optional().describe('likewise, exclusive'),
  ...auditFilter,
});

export const peerAuditQuery = z.object({ from: instant.optional(), to: instant.optional(), ...auditFilter });
export type PeerAuditQuery = z.infer<typeof peerAuditQuery>;

export const auditAnswer = z
  .object({
    records: z.array(auditRecord).max(maxAuditRecords).describe('newest first'),
    degraded: z.boolean().describe('true if a known box did not respond'),
  })
  .meta({ id: 'Audit' });

export const peerAudit = z
  .object({ records: z.array(auditRecord).max(maxAuditRecords).describe('newest first') })
  .meta({ id: 'PeerAudit', description: 'the records of one box' });
