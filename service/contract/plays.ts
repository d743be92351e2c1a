/** Play records as a player page makes them, and the messages that deliver them. */
import { z } from 'zod';
import { slideKinds } from './slide-values.ts';
import { instant, reportedText, sha256, slug } from './terms.ts';

/**
 * How a play ended.
 * - `played`: the slide was on for its whole time.
 * - `cut`: it came on, and ended before its time: by a command, an edit, its schedule, a takeover, a blackout, a redirect,
 *   or because the page ended.
 * - `skipped`: it was due and could not be made ready; it never came on, `duration_ms` is 0.
 * - `failed`: it came on and could not go on.
 */
export const playResults = ['played', 'cut', 'skipped', 'failed'] as const;

/** `untrusted`: the page's time was not plausible during the play, so that its instants may be wrong. */
export const playClocks = ['synced', 'untrusted'] as const;

/** Milliseconds of a play; a slide can be shown for a year. */
const playMs = z.number().min(0).max(Number.MAX_SAFE_INTEGER).overwrite(Math.round);

/** The part of a play record that the page knows; the service adds site, box, device and the hash of the medium. */
export const pagePlay = z
  .object({
    play_id: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/)
      .describe('made by the page, unique: a record that is delivered twice has the same one'),
    screen: slug
      .optional()
      .describe(
        'slug of the screen that the page showed; absent: that of the socket. A page can move to another screen',
      ),
    slide_id: reportedText().describe('cut at 500 characters'),
    slide_title: reportedText().nullable().describe('cut at 500 characters'),
    kind: z.enum(slideKinds).describe('kind of the slide'),
    media_url: reportedText(4096).nullable().describe('as in the playlist, cut at 4,096 characters'),
    revision: reportedText().nullable().describe('of the playlist that the slide was shown from; null: it had none'),
    /** When the slide was painted, by the service's clock as far as the page knew it. */
    started_at: instant,
    /** `started_at` and `duration_ms`. */
    ended_at: instant,
    duration_ms: playMs.describe('how long it was seen, by a monotonic clock; not while black, covered or closed'),
    expected_ms: playMs.describe('how long it was to be on'),
    result: z.enum(playResults).describe('played; cut: ended early; skipped: never came on; failed: could not go on'),
    reason: reportedText()
      .nullable()
      .describe('why it was cut, skipped or failed, cut at 500 characters; null: played'),
    clock: z.enum(playClocks).describe('untrusted: the time of the page was not plausible'),
  })
  .meta({ id: 'PagePlay', description: 'what a page showed' });
export type PagePlay = z.infer<typeof pagePlay>;

/** Most records in one `plays` message. */
export const MAX_PLAYS = 50;

/**
 * Plays that have ended. The page keeps each one in its storage until an `ack` names its `play_id`, and sends one
 * message at a time: the next one after the `ack`, the same records again where none comes within 10 s or the socket was
 * closed. A record can therefore arrive more than once, also on another socket or at another box, always with the same
 * `play_id`.
 */
export const playsMessage = z
  .object({
    type: z.literal('plays'),
    plays: z.array(pagePlay).min(1).max(MAX_PLAYS).describe('oldest first'),
  })
  .meta({ id: 'Plays', description: 'slides that were shown; sent again until the service acknowledges them' });

/**
 * Answers `plays` once its records are durable. The page then forgets the records that it names; records that are not
 * named are sent again. A repeat is acknowledged like a new record. Where nothing keeps plays, all are acknowledged.
 */
export const ackMessage = z
  .object({
    type: z.literal('ack'),
    play_ids: z.array(z.string()).max(MAX_PLAYS).describe('the records that are durable'),
  })
  .meta({ id: 'Ack', description: 'answers `plays` once they are durable: the page forgets them' });

const { play_id, slide_id, slide_title, kind, media_url, revision, started_at, ended_at } = pagePlay.shape;
const { duration_ms, expected_ms, result, reason, clock } = pagePlay.shape;

/** A play as it is kept, exported and delivered. */
export const play = z
  .object({
    play_id,
    site: z.string().describe('name of the site'),
    node_id: z.string().describe('id of the box that the page reported it to'),
    device_id: z.string().nullable().describe('id of the device; null: the page has none'),
    client_name: z.string().nullable().describe('name of the device as it was reported; null: it has none'),
    screen: slug,
    slide_id,
    slide_title,
    kind: kind.describe('kind of the slide'),
    media_url: media_url.describe('as in the playlist, without user and password'),
    media_sha256: sha256
      .nullable()
      .describe('SHA-256 of the medium; null: there is none, or it was replaced since the play began'),
    revision,
    started_at,
    ended_at,
    duration_ms,
    expected_ms,
    result,
    reason,
    clock,
  })
  .meta({ id: 'Play', description: 'a slide that was shown' });
export type Play = z.infer<typeof play>;

const bound = z.string().min(1).max(64);

export const playsQuery = z.object({
  from: bound
    .optional()
    .describe('on `started_at`, inclusive: a date (midnight of the site) or ISO 8601; without an offset, of the site'),
  to: bound.optional().describe('likewise, exclusive'),
  screen: slug.optional().describe('slug; absent: all screens'),
  format: z.enum(['json', 'csv']).default('json').describe('one array, or RFC 4180 with a header row'),
});

/** Most plays in one answer between boxes. */
const MAX_PEER_PLAYS = 1_000;

export const peerPlaysQuery = z.object({
  from: instant.optional(),
  to: instant.optional(),
  screen: slug.optional().describe('slug; absent: all screens'),
  after: instant.optional(),
  skip: z.coerce.number().int().min(0).default(0).describe('plays that started at `after` and are known'),
  limit: z.coerce.number().int().min(1).max(MAX_PEER_PLAYS).default(MAX_PEER_PLAYS).describe('most plays'),
});

export const peerPlays = z
  .object({
    plays: z.array(play).max(MAX_PEER_PLAYS).describe('in the order of `started_at`'),
    next: z
      .object({ after: instant, skip: z.int().describe('plays that started at `after` and are known') })
      .nullable()
      .describe('where the next page begins; null: this was the last one'),
  })
  .meta({ id: 'PeerPlays', description: 'plays of one box' });
export type PeerPlays = z.infer<typeof peerPlays>;
