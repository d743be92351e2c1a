/** Schemas that the parts of the operator's `content.json` share. */
import { z } from 'zod';
import { isDay } from './day.ts';
import { streamSchemes } from './stream-schemes.ts';
import { parseUrl } from './url.ts';

export const id = z.string().min(1).max(128);
export const optionalText = z.string().nullish();

const urlMatching = (rule: RegExp, allowed: string) =>
  z
    .string()
    .max(4096)
    .refine((url) => rule.test(url) && parseUrl(url, 'http://player') !== null, allowed);

/** `/media/NAME`, with one path segment, or an absolute URL. */
export const fileUrl = urlMatching(/^(https?:\/\/[^/\s]\S*|\/media\/[^/\s]+)$/i, 'an http(s) URL or /media/NAME');
export const pageUrl = urlMatching(/^https?:\/\/[^/\s]\S*$/i, 'an http(s) URL');
export const streamUrl = urlMatching(
  new RegExp(
    `^((${streamSchemes.join('|')})://[^/\\s]\\S*|(https?://[^/\\s]\\S*|/media/[^/\\s]+)\\.m3u8(\\?\\S*)?)$`,
    'i',
  ),
  'an rtmp, rtmps, rtsp, rtsps or srt URL, or the http(s) URL of an .m3u8',
);

/** ISO 8601: a date, with optional time (down to nanoseconds) and optional offset. */
export const dateTime = z
  .string()
  .regex(
    /^\d{4}-\d\d-\d\d(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)?)?$/,
    'an ISO 8601 date and time',
  )
  .refine((value) => isDay(value.slice(0, 10)), 'an ISO 8601 date of a day that exists');
export const wallTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$/, 'HH:MM or HH:MM:SS');

const isDays = (json: string): boolean => {
  try {
    const days: unknown = JSON.parse(json);
    return Array.isArray(days) && days.every((day) => Number.isInteger(day) && day >= 1 && day <= 7);
  } catch {
    return false;
  }
};
export const days = z
  .string()
  .refine(isDays, 'a JSON array of weekdays 1 (Monday) to 7 in a string, such as "[1,2,3,4,5]"');

/** An error or a warning about the content. */
export const contentIssue = z
  .object({
    path: z.string().describe('in content.json: `playlists[0].slides[3].duration_seconds`; empty for the whole file'),
    message: z.string().describe('begins with the title or id of the slide in quotes, if it concerns a slide'),
  })
  .meta({ id: 'ContentIssue' });
export type ContentIssue = z.infer<typeof contentIssue>;
