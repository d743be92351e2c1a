/** Messages that are kept in the content, to be shown as takeovers. */
import { z } from 'zod';
import { mostTakeoverBody, mostTakeoverDays, takeoverLevels } from './console/takeover-levels.ts';
import { fileUrl } from './content-terms.ts';

/** A takeover of a message has this in front of the id of the message. */
export const messagePrefix = 'message-';

/** At most as long as `message-` and it are the id of a takeover. */
export const messageId = z.string().regex(/^[a-z0-9-]{1,56}$/, '1 to 56 of a-z, 0-9 and -');

const minutes = z
  .number()
  .positive()
  .max(mostTakeoverDays * 24 * 60)
  .nullable()
  .describe('how long it is shown; null: until it is ended, of an emergency alone');

export const savedMessage = z.strictObject({
  id: messageId,
  title: z.string().nullish().describe('title or media_url is required'),
  body: z.string().max(mostTakeoverBody).nullish().describe('second text, below the title'),
  level: z.enum(takeoverLevels),
  media_url: fileUrl.nullish().describe('an image or video that is shown instead of the text'),
  minutes,
});

export const mostMessages = 200;
