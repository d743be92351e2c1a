/**
 * Slides: one table of their fields, and one of their kinds. What the operator writes, what pages get, what is absent and
 * the types of all that derive from both.
 */
import { z } from 'zod';
import { dateTime, days, fileUrl, id, optionalText, pageUrl, streamUrl, wallTime } from './content-terms.ts';
import { type Column, column, extended } from './terms.ts';
import { webLook } from './web-look.ts';

/** A template: HTML with Liquid, rendered in the page. */
export const template = z
  .strictObject({
    id: z.string().min(1).describe('id of the template'),
    name: z.string().describe('name of the template, for people'),
    html: z.string().describe('HTML with Liquid'),
  })
  .meta({ id: 'Template' });

const picture = {
  fit: z.enum(['cover', 'contain']).optional(),
  focus: z.tuple([z.number().min(0).max(1), z.number().min(0).max(1)]).optional(),
};
const sound = { muted: z.boolean().optional(), volume: z.number().min(0).max(1).optional() };
/** Of kinds that show what was fetched. */
const age = {
  max_age_seconds: z
    .number()
    .positive()
    .max(31_536_000)
    .optional()
    .describe('how old what was fetched may be; default: 86400, of calendars 14400'),
  when_old: z
    .enum(['label', 'skip'])
    .optional()
    .describe('what becomes of older data: it is shown with its age (label, the default), or not at all (skip)'),
};
/** How a kiosk shows a page. */
const { zoom, ...otherLook } = webLook;
const webPage = z.strictObject({
  zoom,
  refresh_seconds: z
    .number()
    .positive()
    .optional()
    .describe('how often it is loaded again while it is on, at most every 5 s; default: never'),
  ...otherLook,
});
const cssColour = z.unknown().optional().describe('a CSS colour');

/** Unknown fields of `content` and invalid colours are warnings, not errors. */
const options = <Shape extends z.core.$ZodShape>(shape: Shape) => z.looseObject(shape).nullish();
type Content = z.ZodObject | ReturnType<typeof options>;

interface Kind {
  /** What the player shows of the title, the body, the medium and the template. */
  shows: readonly ('title' | 'body' | 'media_url' | 'template_id')[];
  /** Fields of the file that the kind needs, or takes other values in than the rest. */
  file?: { readonly content?: Content } & Readonly<Record<string, z.ZodType>>;
  /** What its fields must meet together. */
  needs?: { isMet(slide: Record<string, unknown>): boolean; path: string[]; error: string };
  /** `content` holds the values of a template, which may be any JSON. */
  hasValues?: true;
  /** The page determines its length, and pages may differ: synchronized playlists must set it. */
  hasOwnLength?: true;
  /** Its medium is a file, which is copied and fetched ahead; pages and live streams are not. */
  hasFile?: true;
  isExtended?: true;
  /** The player draws it, in colours that differ from those of the slide before; a medium fills the screen instead. */
  isDrawn?: true;
}

const kinds = {
  text: {
    shows: ['title', 'body'],
    file: {
      content: options({
        background: cssColour,
        color: cssColour,
        align: z.unknown().optional().describe('center, or absent'),
      }),
    },
    needs: {
      isMet: ({ title, body }) => Boolean(title || body),
      path: ['title'],
      error: 'a text slide needs a title or a body',
    },
    isDrawn: true,
  },
  image: {
    shows: ['media_url'],
    file: { media_url: fileUrl, content: options({ ...picture, background: cssColour }) },
    hasFile: true,
  },
  video: {
    shows: ['media_url'],
    file: { media_url: fileUrl, content: options({ ...picture, ...sound, background: cssColour }) },
    hasFile: true,
    hasOwnLength: true,
  },
  web: {
    shows: ['media_url'],
    file: { media_url: pageUrl, content: options({ ...age, web: webPage.optional() }) },
  },
  stream: {
    shows: ['media_url'],
    file: { media_url: streamUrl, content: options({ ...sound, fallback_media_url: fileUrl.optional() }) },
  },
  pdf: {
    shows: ['media_url'],
    file: { media_url: fileUrl, content: options({ ...picture, background: cssColour }) },
    hasFile: true,
    hasOwnLength: true,
  },
  template: {
    shows: ['title', 'body', 'media_url', 'template_id'],
    file: { template_id: id, content: options({ ...age }) },
    hasValues: true,
    isDrawn: true,
  },
  rss: {
    shows: ['title'],
    file: { content: z.looseObject({ feed_id: id, items: z.int().positive().optional(), ...age }) },
    hasOwnLength: true,
    isDrawn: true,
  },
  timetable: {
    shows: ['title'],
    file: { content: z.looseObject({ group_id: id, ...age }) },
    hasOwnLength: true,
    isDrawn: true,
  },
  calendar: {
    shows: ['title'],
    file: {
      content: z.looseObject({
        calendar_id: id.optional(),
        calendar_ids: z.array(id).min(1).max(20).optional().describe('several calendars in one'),
        view: z.enum(['day', 'week', 'room']).optional().describe('default: day'),
        days: z.int().min(1).max(8).optional().describe('days that are shown; default: 1, of a week 7'),
        show_private: z.boolean().optional().describe('titles of private events; default: false, which shows "Busy"'),
        ...age,
      }),
    },
    needs: {
      isMet: ({ content }) => {
        const { calendar_id, calendar_ids } = (content ?? {}) as { calendar_id?: unknown; calendar_ids?: unknown };
        return (calendar_id === undefined) !== (calendar_ids === undefined);
      },
      path: ['content', 'calendar_id'],
      error: 'a calendar slide needs a calendar_id, or calendar_ids',
    },
    isDrawn: true,
    isExtended: true,
  },
} as const satisfies Record<string, Kind>;

export type SlideKind = keyof typeof kinds;
export const slideKinds = Object.keys(kinds) as SlideKind[];
const isExtended = (kind: SlideKind): boolean => (kinds[kind] as Kind).isExtended === true;
export const extendedKinds = slideKinds.filter(isExtended);

const scheduleModes = ['always', 'between', 'weekly'] as const;

interface Field {
  /** In the operator's file, for every kind; absent: the kind says it, or the file has no such field. */
  file?: z.ZodType;
  /** In the payload of pages, in the order of this table. */
  wire: z.ZodType;
  /** Its value in the payload where the file has none. */
  absent: unknown;
}

const fields = {
  id: { file: id.optional(), wire: z.string().describe('id of the slide'), absent: '' },
  title: { file: optionalText, wire: z.string().nullable().describe('title of the slide'), absent: null },
  body: {
    file: optionalText,
    wire: z.string().nullable().describe('plain text, or HTML that the player sanitises'),
    absent: null,
  },
  duration_seconds: {
    file: z.number().positive().max(31_536_000).nullish().describe('null: the length of the medium, or 10 s'),
    wire: z.number().positive().nullable().describe('null: the length of the medium, or 10 s'),
    absent: null,
  },
  schedule_mode: {
    file: z.enum(scheduleModes).optional(),
    wire: z
      .enum(scheduleModes)
      .describe('always; between: between the two datetimes; weekly: between the two times on the days'),
    absent: 'always',
  },
  schedule_start_datetime: {
    file: dateTime.nullish(),
    wire: z.string().nullable().describe('ISO 8601; without an offset, wall-clock time of the site'),
    absent: null,
  },
  schedule_end_datetime: {
    file: dateTime.nullish(),
    wire: z.string().nullable().describe('ISO 8601, exclusive; without an offset, wall-clock time of the site'),
    absent: null,
  },
  schedule_start_time: {
    file: wallTime.nullish(),
    wire: z.string().nullable().describe('HH:MM or HH:MM:SS, wall-clock'),
    absent: null,
  },
  schedule_end_time: {
    file: wallTime.nullish(),
    wire: z.string().nullable().describe('at or before the start: past midnight'),
    absent: null,
  },
  schedule_days_json: {
    file: days.nullish(),
    wire: z.string().nullable().describe('JSON array of ISO weekdays, 1 (Monday) to 7; null: every day'),
    absent: null,
  },
  media_url: {
    file: fileUrl.nullish(),
    wire: z.string().nullable().describe('http(s) URL, stream URL or /media/NAME'),
    absent: null,
  },
  media_type: {
    file: z
      .string()
      .regex(/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(;.*)?$/, 'a media type such as image/png')
      .nullish(),
    wire: z.string().nullable().describe('RFC 6838 media type'),
    absent: null,
  },
  kind: {
    wire: z
      .union([z.enum(slideKinds.filter((kind) => !isExtended(kind))), extended(z.enum(extendedKinds))])
      .describe('what is shown, and from which fields'),
    absent: 'text',
  },
  template_id: { file: id.nullish(), wire: z.string().nullable().describe('id of the template'), absent: null },
  template: { wire: template.nullable().describe('the template itself'), absent: null },
  content: {
    file: z.looseObject({}).nullish(),
    wire: z.record(z.string(), z.unknown()).nullable().describe('options of the kind, or values of the template'),
    absent: null,
  },
} as const satisfies Record<string, Field>;

type Fields = typeof fields;
/** A slide in the payload of pages. */
export const slide = z.object(column(fields, 'wire')).meta({ id: 'Slide' });
export type Slide = z.infer<typeof slide>;

/** A slide without anything, in the order of the fields. */
export const blankSlide = Object.fromEntries(
  Object.entries(fields).map(([name, { absent }]) => [name, absent]),
) as Slide;

type FileOf<Kind extends SlideKind> = (typeof kinds)[Kind] extends { file: infer Own extends z.core.$ZodShape }
  ? Omit<Column<Fields, 'file'>, keyof Own> & Own
  : Column<Fields, 'file'>;
type SlideOfKind<Kind extends SlideKind> = z.ZodObject<{ kind: z.ZodLiteral<Kind> } & FileOf<Kind>, z.core.$strict>;

const ofKind = (kind: SlideKind): z.ZodObject => {
  const { file, needs }: Kind = kinds[kind];
  const schema = z.strictObject({ kind: z.literal(kind), ...column(fields, 'file'), ...file });
  return needs === undefined ? schema : schema.refine(needs.isMet, needs);
};

export const slideFile = z.discriminatedUnion(
  'kind',
  slideKinds.map(ofKind) as unknown as { [Kind in SlideKind]: [SlideOfKind<Kind>] }[SlideKind],
);
export type SlideFile = z.infer<typeof slideFile>;

/** The keys of `content` that a kind knows, beside the values of a template. */
export const contentKeys = (kind: SlideKind): string[] => {
  const { file = {} }: Kind = kinds[kind];
  const { content = z.object({}) } = file;
  const given = content instanceof z.ZodObject ? content : content.unwrap().unwrap();
  return Object.keys(given.shape);
};

/** Kinds whose `content` holds the values of a template under any key. */
export const kindsWithValues: readonly SlideKind[] = slideKinds.filter((kind) => (kinds[kind] as Kind).hasValues);

const kindsWith = (isMeant: (kind: Kind) => boolean): SlideKind[] => slideKinds.filter((kind) => isMeant(kinds[kind]));
export const kindsWithOwnLength = kindsWith(({ hasOwnLength = false }) => hasOwnLength);
export const fileKinds = kindsWith(({ hasFile = false }) => hasFile);
export const drawnKinds = kindsWith(({ isDrawn = false }) => isDrawn);
export const shownFields = Object.fromEntries(slideKinds.map((kind) => [kind, (kinds[kind] as Kind).shows])) as Record<
  SlideKind,
  Kind['shows']
>;
