/** Takeovers: messages that screens show alone, from one moment to another. */
import { z } from 'zod';
import { instant } from '../terms.ts';
import { parseUrl } from '../url.ts';
import { mostTakeoverBody, mostTakeoverDays, mostTakeoverTitle, takeoverLevels } from './takeover-levels.ts';

/** Limits of a site. Emergencies have limits of their own, so that nothing of other levels keeps one out. */
export const takeoverLimits = {
  /** That are on or still to come. */
  open: 100,
  minute: 600,
  day: 5_000,
  openEmergencies: 20,
  emergenciesAMinute: 20,
};

export const takeoverId = z
  .string()
  .regex(/^[a-z0-9-]{1,64}$/, '1 to 64 of a-z, 0-9 and -')
  .describe('id of a takeover, chosen by the client that starts it');

/** When a takeover is over at the latest, ms since the epoch; infinity: it lasts until it is ended. */
export const endOfTakeover = ({ until }: { until: string | null }): number =>
  until === null ? Number.POSITIVE_INFINITY : Date.parse(until);

/** What a takeover or another order is for. */
export const target = z
  .string()
  .min(1)
  .max(100)
  .describe('`all`, the slug of a screen, or `tag:NAME` for the screens with a tag');

const level = z.enum(takeoverLevels).describe('emergency: also outside opening hours');
const title = z.string().max(mostTakeoverTitle);
const body = z.string().max(mostTakeoverBody);
const mediaUrl = z
  .string()
  .max(2048)
  .refine(
    (url) => /^(https?:\/\/[^/\s]\S*|\/media\/[^/\s]+)$/i.test(url) && parseUrl(url, 'http://player') !== null,
    'the http(s) URL or the /media/NAME of an image or video',
  );

/** A moment as clients write it; kept in UTC with milliseconds. */
const moment = z.iso
  .datetime({ offset: true, error: 'an ISO 8601 date and time with an offset or Z' })
  .transform((text) => new Date(text).toISOString());

/** The body of `PUT /console/api/takeovers/{id}`. */
export const takeoverRequest = z
  .object({
    targets: z
      .array(target)
      .min(1, 'at least one target')
      .max(100, 'at most 100 targets')
      .describe('the screens: each target names an existing screen, or a tag of at least one screen'),
    level,
    title: title.nullish().describe('title or media_url is required'),
    body: body.nullish().describe('second text, below the title'),
    media_url: mediaUrl.nullish().describe('an image or video that is shown instead of the text'),
    from: moment.nullish().describe('absent: immediately'),
    until: moment
      .nullable()
      .describe(
        `required; later than \`from\` by at most ${mostTakeoverDays} days, and not in the past; null: until it is ended, of an emergency alone`,
      ),
  })
  .meta({ id: 'TakeoverRequest' });
export type TakeoverRequest = z.infer<typeof takeoverRequest>;

export const takeover = z
  .object({
    id: takeoverId,
    targets: z.array(target).describe('the screens, as given'),
    level,
    title: title.nullable().describe('null: only an image or video'),
    body: body.nullable().describe('second text, below the title'),
    media_url: z.string().nullable().describe('the image or video'),
    from: instant.describe('start'),
    until: instant.nullable().describe('end; null: until it is ended'),
    updatedAt: instant.describe('of two records with the same id the newer one wins'),
    shown: z.int().describe('displays that show it now'),
    expected: z.int().describe('displays of the targeted screens: connected pages, and devices that are expected'),
  })
  .meta({ id: 'Takeover', description: 'an active or upcoming takeover' });
export type Takeover = z.infer<typeof takeover>;
