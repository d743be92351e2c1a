/** Triggers: addresses with which other systems start what an operator has chosen before. */
import { z } from 'zod';
import { id } from '../content-terms.ts';
import { messageId } from '../messages.ts';
import { author, instant, sha256 } from '../terms.ts';
import { mostTakeoverDays } from './takeover-levels.ts';
import { target } from './takeovers.ts';

export const triggerLimits = {
  triggers: 200,
  /** Records, those of revoked ones included, which are kept so that no box brings one back. */
  records: 5_000,
  /** Requests a second to one trigger, and with unknown tokens from one address. */
  aSecond: 10,
  /** Of a body, which is read and ignored. */
  bodyBytes: 64 * 1024,
} as const;

const targets = z
  .array(target)
  .min(1, 'at least one target')
  .max(100, 'at most 100 targets')
  .describe('the screens: `all`, slugs, or `tag:NAME` for the screens with a tag');

const message = messageId.describe('id of a saved message');
const playlistId = id.describe('id of a playlist');

const minutes = z
  .number()
  .positive()
  .max(mostTakeoverDays * 24 * 60, `at most ${mostTakeoverDays} days`)
  .describe('how long the playlist plays');

const takeover = z
  .strictObject({ message_id: message, targets })
  .describe('shows a saved message as the takeover `message-{message_id}`, which starts anew if it is on');
const end = z.strictObject({ message_id: message }).describe('ends the takeover of a saved message');
const playlist = z
  .strictObject({ targets, playlist_id: playlistId, minutes })
  .describe('plays a playlist above all programmes, and below takeovers');
const command = z
  .looseObject({ targets, command: z.string().max(64).describe('name of the command') })
  .describe('sends a command, with the fields that it has in `POST /api/screens/{slug}/commands`');

/** What a trigger does: exactly one of the four. */
const effects = { takeover, end, playlist, command };

export const triggerEffect = z
  .strictObject(effects)
  .partial()
  .refine((effect) => Object.keys(effect).length === 1, 'exactly one of takeover, end, playlist and command')
  .meta({ id: 'TriggerEffect', description: 'what a trigger does: exactly one of the four' });
export type TriggerEffect = z.infer<typeof triggerEffect>;

const name = z.string().trim().min(1).max(100).describe('for people');

/** The body of `POST /console/api/triggers`. */
export const triggerRequest = z.strictObject({ name, effect: triggerEffect }).meta({ id: 'TriggerRequest' });

export const triggerId = z
  .string()
  .regex(/^[0-9a-f]{16}$/)
  .describe('id of a trigger, which is no secret');

const triggerToken = z
  .string()
  .regex(/^[0-9a-f]{32}$/)
  .describe('128 bits: who has it can fire the trigger. No other answer holds it');

export const newTrigger = z
  .object({
    id: triggerId,
    name,
    token: triggerToken,
    url: z.url().describe('where a POST fires it: https where this box answers so'),
  })
  .meta({ id: 'NewTrigger' });
export type NewTrigger = z.infer<typeof newTrigger>;

const fields = {
  id: triggerId,
  name,
  effect: triggerEffect,
  created_at: instant,
  created_by: author.nullable().describe('null: unknown'),
};

export const trigger = z
  .object({
    ...fields,
    fired_at: instant
      .nullable()
      .describe('when it last carried out its effect at the responding box; null: not since its start'),
    issue: z.string().nullable().describe('why it would fail now, as a sentence; null: it would not'),
  })
  .meta({ id: 'Trigger' });
export type Trigger = z.infer<typeof trigger>;

export const triggerList = z
  .object({ triggers: z.array(trigger).describe('oldest first, without their tokens') })
  .meta({ id: 'TriggerList' });

const carriedOut = z.array(target).describe('the targets that the content has');

const did = {
  takeover: z
    .object({
      id: z.string().describe('of the takeover'),
      targets: carriedOut,
      until: instant.nullable().describe('null: until it is ended'),
    })
    .describe('it shows a saved message'),
  end: z
    .object({ id: z.string().describe('of the takeover'), ended: z.boolean().describe('false: it was not on') })
    .describe('it ended a saved message'),
  playlist: z
    .object({ playlist_id: z.string().describe('id of the playlist'), targets: carriedOut, until: instant })
    .describe('it plays a playlist'),
  command: z
    .object({
      command: z.string().describe('name of the command'),
      targets: carriedOut,
      sent: z.int().describe('pages that it was written to'),
      degraded: z.boolean().describe('true: a known box did not respond within 1 s'),
    })
    .describe('it sent a command'),
};

export const triggerDid = z
  .object({ id: triggerId, did: z.object(did).partial().describe('what it did, by the name of its effect') })
  .meta({ id: 'TriggerDid' });
export type TriggerDid = z.infer<typeof triggerDid>;

export const triggerTrial = z
  .object({
    id: triggerId,
    ok: z.boolean().describe('whether it would do so now'),
    issue: z.string().nullable().describe('why not, as a sentence; null: it would'),
    screens: z.array(z.string()).describe('slugs of the screens that it is for now'),
    displays: z.int().describe('displays of these screens'),
  })
  .meta({ id: 'TriggerTrial', description: 'what a trigger would do; nothing was shown' });
export type TriggerTrial = z.infer<typeof triggerTrial>;

/** A trigger as boxes share it; its revocation is a record too. What a newer version adds is kept. */
export const triggerRecord = z.looseObject({
  ...fields,
  /** As in {@link triggerEffect}, or one of a newer version. */
  effect: z.record(z.string().max(64), z.unknown()),
  /** Of the token, which no box keeps. */
  token_sha256: sha256,
  updated_at: instant,
  /** When it was revoked, for ever; null: not. */
  removed_at: instant.nullable(),
  /** When its playlist last began, and when it ends; null: it has none, or never did. */
  plays: z.object({ from: instant, until: instant }).nullable(),
});
export type TriggerRecord = z.infer<typeof triggerRecord>;
