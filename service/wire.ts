/**
 * The vocabulary of the interface: every record, payload, command and socket message, as a schema.
 * Types are derived from the schemas, so that what is parsed, answered and documented is one thing.
 * Pure: browser code may import it.
 */
import { z } from 'zod';

/** The interface comes in two variants; the baseline lacks everything listed in {@link extendedOnly}. */
export const variants = ['extended', 'baseline'] as const;
export type Variant = (typeof variants)[number];

/** Instants travel as ISO 8601 in UTC with milliseconds: `2026-01-31T08:00:00.000Z`. */
const instant = z.iso.datetime({ precision: 3 }).meta({ id: 'Instant', description: 'ISO 8601, UTC, milliseconds' });

/** SHA-256 in lower-case hex. */
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** A screen's name in addresses. */
export const slug = z.string().regex(/^[a-z0-9-]{1,64}$/, '1 to 64 of a-z, 0-9 and -');

/** A device's own, lasting id. */
export const deviceId = z.string().regex(/^[A-Za-z0-9._:-]{1,128}$/, '1 to 128 of A-Z a-z 0-9 . _ : -');

/** What people call a player. */
export const clientName = z.string().trim().min(1).max(64);

export const screen = z
  .object({
    id: z.string(),
    name: z.string(),
    slug,
    playlist_id: z.string().nullable(),
    created_at: instant,
    modified_at: instant.describe('when what this screen shows last changed'),
  })
  .meta({ id: 'Screen' });
export type Screen = z.infer<typeof screen>;

export const playlist = z
  .object({ id: z.string(), name: z.string(), fade_between_slides: z.boolean() })
  .meta({ id: 'Playlist' });

export const slideKinds = ['text', 'image', 'video', 'web', 'stream', 'pdf', 'template', 'rss', 'timetable'] as const;
export const scheduleModes = ['always', 'between', 'weekly'] as const;

/** A template: HTML with Liquid, rendered in the page. */
export const template = z
  .strictObject({ id: z.string().min(1), name: z.string(), html: z.string() })
  .meta({ id: 'Template' });

export const slide = z
  .object({
    id: z.string(),
    title: z.string().nullable(),
    body: z.string().nullable().describe('plain text, or HTML that the player sanitises'),
    duration_seconds: z
      .number()
      .positive()
      .nullable()
      .describe('null: the length of the medium, 10 s where it has none'),
    schedule_mode: z.enum(scheduleModes),
    schedule_start_datetime: z.string().nullable().describe('ISO 8601; without an offset, wall-clock time of the site'),
    schedule_end_datetime: z.string().nullable().describe('likewise; exclusive'),
    schedule_start_time: z.string().nullable().describe('HH:MM or HH:MM:SS, wall-clock'),
    schedule_end_time: z.string().nullable().describe('at or before the start: past midnight'),
    schedule_days_json: z.string().nullable().describe('JSON array of ISO weekdays, 1 (Monday) to 7; null: every day'),
    media_url: z.string().nullable().describe('http(s) URL, stream URL or /media/NAME'),
    media_type: z.string().nullable().describe('RFC 6838 media type'),
    kind: z.enum(slideKinds),
    template_id: z.string().nullable(),
    template: template.nullable(),
    content: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'Slide' });
export type Slide = z.infer<typeof slide>;

const sourceStatus = z.enum(['pending', 'ok', 'stale', 'failed']);

export const rssFeed = z
  .object({
    id: z.string(),
    name: z.string(),
    url: z.string(),
    refresh_seconds: z.number(),
    status: sourceStatus,
    fetched_at: instant.nullable(),
    items: z.array(
      z.object({
        id: z.string(),
        title: z.string().nullable(),
        link: z.string().nullable(),
        summary: z.string().nullable(),
        image_url: z.string().nullable(),
        published_at: instant.nullable(),
      }),
    ),
  })
  .meta({ id: 'RssFeed' });
export type RssFeed = z.infer<typeof rssFeed>;

export const apiSource = z
  .object({
    id: z.string(),
    name: z.string(),
    url: z.string(),
    refresh_seconds: z.number(),
    status: sourceStatus,
    fetched_at: instant.nullable(),
    data: z.unknown(),
  })
  .meta({ id: 'ApiSource' });
export type ApiSource = z.infer<typeof apiSource>;

export const timetableGroup = z
  .object({
    id: z.string(),
    name: z.string(),
    entries: z.array(
      z.object({
        id: z.string(),
        time: z.string(),
        title: z.string(),
        detail: z.string().nullable(),
        location: z.string().nullable(),
        days_json: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'TimetableGroup' });

/** Everything one screen shows. `revision` is a hash of the rest. */
export const playlistPayload = z
  .object({
    screen,
    playlist: playlist.nullable(),
    slides: z.array(slide),
    rssFeeds: z.array(rssFeed),
    apiSources: z.array(apiSource),
    timetableGroups: z.array(timetableGroup),
    revision: z.string(),
  })
  .meta({ id: 'PlaylistPayload' });
export type PlaylistPayload = z.infer<typeof playlistPayload>;

export const viewport = z.object({
  width: z.number().nonnegative(),
  height: z.number().nonnegative(),
  devicePixelRatio: z.number().positive(),
});

/** What a page says of itself whenever it changes. */
const pageState = {
  page: z.string().max(2048).describe("the page's path, or the URL that a redirect shows"),
  viewport: viewport.nullish(),
};

export const helloMessage = z
  .object({
    type: z.literal('hello'),
    clientId: z.string().min(1).max(128),
    deviceId: deviceId.nullish(),
    clientName: clientName.nullish(),
    ...pageState,
  })
  .meta({ id: 'Hello', description: 'first message of a page, within 5 s' });

export const stateMessage = z
  .object({
    type: z.literal('state'),
    ...pageState,
    currentSlide: z.int().nonnegative().nullish().describe('index into slides, from 0'),
    currentSlideId: z.string().max(256).nullish(),
    currentSlideTitle: z.string().nullish(),
    paused: z.boolean(),
    blackout: z.boolean(),
  })
  .meta({ id: 'State', description: 'what a page shows, sent on change' });

export const faultMessage = z
  .object({
    type: z.literal('fault'),
    slideId: z.string().max(256),
    reason: z.string().max(1024),
  })
  .meta({ id: 'Fault', description: 'a slide that the page skipped, and why' });

/**
 * Which clocks of a page can be right. One that tells a time before the player was built is wrong.
 * - `ok`: the service's, which the page goes by, and the page's own agrees within a minute.
 * - `page`: only the service's; the page's own is wrong or apart from it.
 * - `service`: only the page's own, which it goes by meanwhile.
 * - `unset`: none, so that only slides play that are always on.
 */
export const clockStates = ['ok', 'page', 'service', 'unset'] as const;

export const clockMessage = z
  .object({
    type: z.literal('clock'),
    state: z.enum(clockStates).describe('whose clock can be right: ok (both), page or service (the other), unset'),
    stepMs: z.number().describe('how far the time was set on or back just now; 0: it was not'),
  })
  .meta({ id: 'Clock', description: 'sent after the welcome and whenever the state changes or the time was set' });

export const swapMessage = z
  .object({
    type: z.literal('swap'),
    slideId: z.string().max(256).nullable().describe('what came on; null: the idle screen'),
    gapMs: z.number().nonnegative().max(86_400_000).describe('how long neither slide was on the screen'),
  })
  .meta({ id: 'Swap', description: 'one slide has taken the place of another' });
/** A reading of a clock, in ms. */
const reading = z.number().min(0).max(Number.MAX_SAFE_INTEGER);

export const timeMessage = z
  .object({ type: z.literal('time'), t0: reading.describe("the page's clock as it asks") })
  .meta({ id: 'Time', description: 'a page in step asks for the time of the site' });

/** A page reports the skews since it did so last, and leaves out what is more than this. */
const MOST_SKEWS = 100;
const skews = z.array(z.number().min(-86_400_000).max(86_400_000)).max(MOST_SKEWS);

export const skewMessage = z
  .object({
    type: z.literal('skew'),
    swaps: skews.describe('ms by which slides came on after their moment'),
    videos: skews.describe('ms by which videos were ahead of where they should be'),
  })
  .meta({ id: 'Skew', description: 'how well a page has kept in step since it last said so' });
export type Skew = z.infer<typeof skewMessage>;

export const pageMessage = z.discriminatedUnion('type', [
  helloMessage,
  stateMessage,
  faultMessage,
  clockMessage,
  swapMessage,
  timeMessage,
  skewMessage,
]);
export type PageMessage = z.infer<typeof pageMessage>;
export type ClockState = z.infer<typeof clockMessage>['state'];
export type Hello = z.infer<typeof helloMessage>;
export type State = z.infer<typeof stateMessage>;

export const connection = z
  .object({
    id: z.string().describe('new for each socket'),
    clientId: z.string().describe("the page's own, the same across reconnects"),
    clientName: z.string().nullable(),
    deviceId: z.string().nullable(),
    label: z.string(),
    userAgent: z.string().nullable(),
    viewport: viewport.nullable(),
    page: z.string(),
    currentSlide: z.int().nullable(),
    currentSlideId: z.string().nullable(),
    currentSlideTitle: z.string().nullable(),
    paused: z.boolean(),
    blackout: z.boolean(),
    clientIp: z.string().describe('behind a trusted proxy, the forwarded address'),
    remoteAddress: z.string().describe("the socket's address"),
    connectedAt: instant,
    lastSeenAt: instant,
  })
  .meta({ id: 'Connection' });
export type Connection = z.infer<typeof connection>;

export const connectionSnapshot = z
  .object({
    screen,
    screenSlug: slug,
    count: z.int(),
    connections: z.array(connection),
    degraded: z.boolean().describe('true where a known peer did not answer in time'),
  })
  .meta({ id: 'ConnectionSnapshot' });
export type ConnectionSnapshot = z.infer<typeof connectionSnapshot>;

/** The commands that take no argument of their own. */
const plainCommands = ['refresh', 'reload', 'pause', 'previous', 'next', 'left', 'right'] as const;

/** A path on this service, or an http(s) URL. */
export const redirectUrl = z
  .string()
  .max(2048)
  .refine(
    // URL parsers drop tabs and line ends: with one between them, two slashes would lead off this service.
    (url) => /^(?:\/(?![/\\])|https?:\/\/[^/])[^\t\n\r]*$/i.test(url) && URL.canParse(url, 'http://player'),
    'a path on this service, or an http(s) URL',
  );

/** A command as it is sent to pages: the name and its arguments, nothing about its target. */
export const command = z.discriminatedUnion('command', [
  z.object({ command: z.enum(plainCommands) }),
  z.object({ command: z.literal('blackout'), blackout: z.boolean().nullish().describe('absent: toggle') }),
  z.object({ command: z.literal('redirect'), url: redirectUrl }),
  z.object({ command: z.literal('setclientname'), clientName, deviceId }),
]);
export type Command = z.infer<typeof command>;

/** Which connections a command is for; with neither id, all of the screen. */
export const commandTarget = z.object({
  connectionId: z.string().min(1).max(128).nullish(),
  clientId: z.string().min(1).max(128).nullish(),
});
export type CommandTarget = z.infer<typeof commandTarget>;

/** The body of a command request. */
export const commandRequest = z.intersection(command, commandTarget).meta({ id: 'CommandRequest' });

const everyCommand = [
  'refresh',
  'reload',
  'pause',
  'blackout',
  'previous',
  'next',
  'left',
  'right',
  'redirect',
  'setclientname',
] as const;
export type CommandName = (typeof everyCommand)[number];
const extendedCommands: readonly CommandName[] = ['redirect', 'setclientname'];

/** The commands of a variant, in the order of the specification. */
export const commandNames = (variant: Variant): readonly CommandName[] =>
  variant === 'extended' ? everyCommand : everyCommand.filter((name) => !extendedCommands.includes(name));

export const commandResult = z
  .object({
    screen,
    screenSlug: slug,
    command: z.enum(everyCommand),
    connectionId: z.string().nullable().describe("the targeted connection's id"),
    sent: z.int().describe('connections that the command was written to'),
    degraded: z.boolean(),
  })
  .meta({ id: 'CommandResult' });
export type CommandResult = z.infer<typeof commandResult>;

export const mediaConfig = z
  .object({
    uploadDir: z.string().describe('where uploads are written'),
    mediaDir: z.string().describe("where copies of remote and peers' media are kept"),
  })
  .meta({ id: 'MediaConfig' });
export type MediaConfig = z.infer<typeof mediaConfig>;

export const uploadResult = z
  .object({
    filename: z.string(),
    size: z.int().describe('bytes'),
    sha256,
    url: z.string().describe('the path that serves the file'),
    media_type: z.string().describe('the RFC 6838 media type that the file is served under'),
  })
  .meta({ id: 'UploadResult' });
export type UploadResult = z.infer<typeof uploadResult>;

export const deviceQuery = z.object({ deviceId });

/** What binds a device to a screen, and gives it its name. */
export const binding = z.object({ deviceId, clientName, screenSlug: slug }).meta({ id: 'Binding' });
export type Binding = z.infer<typeof binding>;

export const onboardingStatus = z
  .object({
    deviceId,
    onboarded: z.boolean().describe('true while the screen that the device is bound to exists'),
    clientName: z.string().nullable(),
    screenId: z.string().nullable(),
    screenSlug: slug.nullable(),
    screenName: z.string().nullable(),
    playerUrl: z.string().nullable().describe('absolute'),
  })
  .meta({ id: 'OnboardingStatus' });
export type OnboardingStatus = z.infer<typeof onboardingStatus>;

export const onboardingScreens = z.object({ screens: z.array(screen) }).meta({ id: 'OnboardingScreens' });
export type OnboardingScreens = z.infer<typeof onboardingScreens>;

export const onboardingResult = z
  .object({
    deviceId,
    clientName: z.string(),
    screenId: z.string(),
    screenSlug: slug,
    screenName: z.string(),
    playerUrl: z.string().describe('absolute'),
    queued: z.boolean().describe('true where no live page of the device could be told at once'),
  })
  .meta({ id: 'OnboardingResult' });
export type OnboardingResult = z.infer<typeof onboardingResult>;

/** Where no secret is set pages need no token, and all three are null. */
export const pageToken = z
  .object({ token: z.string().nullable(), issuedAt: instant.nullable(), expiresAt: instant.nullable() })
  .meta({ id: 'PageToken' });

/** Whose edit of the content it is: the higher counter wins, then the higher nodeId. */
export const contentVersion = z
  .object({
    counter: z
      .int()
      .nonnegative()
      .describe('one more than the highest that the editing box had seen; 0: nobody edited it'),
    nodeId: z.string().min(1).max(64).describe('of the box where the edit was made'),
    sha256: sha256.describe('of the document that the version names, its times included'),
  })
  .meta({ id: 'ContentVersion' });
export type ContentVersion = z.infer<typeof contentVersion>;

const ancestor = contentVersion.omit({ sha256: true });

/** A content.json that is longer plays on its own box alone. */
export const mostContentCharacters = 8 * 1024 ** 2;

/** The content of a site as boxes hand it to each other. */
export const contentDocument = contentVersion
  .extend({
    changedAt: instant.describe('when the edit was made'),
    ancestors: z.array(ancestor).max(64).describe('the versions that it was edited from, the newest first'),
    stamps: z
      .array(z.tuple([slug, z.object({ created_at: instant, modified_at: instant, digest: z.string().max(64) })]))
      .describe('the times of the screens, by slug'),
    text: z.string().max(mostContentCharacters).describe('content.json as the operator wrote it'),
  })
  .meta({ id: 'ContentDocument' });
export type ContentDocument = z.infer<typeof contentDocument>;

/** What a box remembers of a device. */
export const deviceBinding = z
  .object({
    deviceId,
    clientName: z.string().min(1).max(64),
    screenSlug: slug.nullable().describe('null: it has a name, but was never bound'),
    updatedAt: instant.describe('later for each change of the device, whatever the clock does: the newest wins'),
  })
  .meta({ id: 'DeviceBinding' });
export type DeviceBinding = z.infer<typeof deviceBinding>;

/** A site has some hundreds; what goes beyond this stays on its own box. */
export const mostBindings = 10_000;

export const peerBindings = z
  .object({ bindings: z.array(deviceBinding).max(mostBindings) })
  .meta({ id: 'PeerBindings', description: 'every device that a box knows' });

/** A file as a box serves it under `/media/NAME`. */
export const peerMedium = z
  .object({
    name: z.string().min(1).max(255),
    size: z.int().nonnegative().describe('bytes'),
    sha256,
    modifiedAt: instant.describe('of two files with one name the newer is the one'),
  })
  .meta({ id: 'PeerMedium' });
export type PeerMedium = z.infer<typeof peerMedium>;

export const peerMedia = z
  .object({ media: z.array(peerMedium).max(10_000) })
  .meta({ id: 'PeerMedia', description: 'every medium that a box has' });

/** How many of the media that are to be had at the site are here; null while there are none to be fetched. */
export type MediaProgress = { here: number; there: number } | null;

/** What the service says to a landing page over its socket; a landing page itself says nothing. */
export type LandingMessage =
  /** On connecting and on every change. `formUrl`: the form's address for another machine; null: it has none. */
  | ({ type: 'status'; formUrl: string | null; media: MediaProgress } & OnboardingStatus)
  /** The form for this device was opened. */
  | { type: 'opened' };

/** What the service says to a page over its socket. */
export type ServiceMessage =
  | { type: 'welcome'; connectionId: string; clientName: string | null; revision: string; serverTime: number }
  | ({ type: 'command' } & Command)
  | { type: 'revision'; revision: string }
  /** `t1` and `t2`: the time of the site as the question came and as the answer went, in ms since the epoch. */
  | { type: 'time'; t0: number; t1: number; t2: number };

/** The subprotocol that a page's socket asks for. */
export const socketProtocol = 'signage.v1';

/** The header that a page sends its token in. */
export const pageAuthHeader = 'x-signage-page-auth';

/** The header of a playlist that is shown at the same time everywhere; absent from all others. */
export const syncHeader = 'x-signage-sync';

/** What goes before the token where a socket sends it, as a second subprotocol. */
export const tokenProtocol = 'token.';

/** What the service writes into every page that it serves. */
export interface PageBoot {
  /** Null where no secret is set. */
  pageToken: { token: string; issuedAt: string; expiresAt: string } | null;
}

/** Further, into the landing page. */
export interface LandingBoot extends PageBoot {
  /** As in {@link LandingMessage}. */
  formUrl: string | null;
}

/** Further, into the player page. */
export interface PlayerBoot extends PageBoot {
  slug: string;
  /** IANA name of the zone that schedules are in. */
  timeZone: string;
}

export const rtmpQuery = z.object({
  source: z.string().describe('rtmp, rtmps, rtsp, rtsps or srt URL'),
  disableAudio: z.enum(['1', 'true', '0', 'false']).optional().describe('default: false'),
});

export const rtmpSession = z
  .object({
    key: z
      .string()
      .regex(/^[0-9a-f]{16}$/)
      .describe('the same for the same source and audio choice'),
    playlistUrl: z.string().describe('path of the HLS manifest'),
    disableAudio: z.boolean(),
    ready: z.boolean().describe('the manifest can be fetched'),
    live: z.boolean().describe('media is arriving'),
  })
  .meta({ id: 'RtmpSession' });
export type RtmpSession = z.infer<typeof rtmpSession>;

/** What a box asks with, so that the one that is asked knows of it. */
export const peerQuery = z.object({
  from: z.uuid().describe('the node id of the box that asks'),
  port: z.coerce.number().int().min(1).max(65_535).describe('where it listens, at the address that it asks from'),
  news: z.literal('1').optional().describe('it has something new: ask it back'),
});

/** What a box tells its peers of itself. `instance` is new with each start, so that a copied node id shows. */
export const peerState = z
  .object({
    nodeId: z.uuid(),
    instance: z.string().max(64),
    site: z.string().max(256),
    version: z.string().max(64).describe('of the program'),
    serverTime: z.number().describe('ms since the epoch'),
    peers: z
      .array(z.object({ nodeId: z.uuid(), url: z.url().max(512) }))
      .max(256)
      .describe('who answers it, and where: one static peer leads to all of a site'),
    content: contentVersion.nullable().describe('null: there never was any'),
    bindings: sha256.describe('of all of them'),
    media: sha256.describe('of the list of them'),
  })
  .meta({ id: 'PeerState' });
export type PeerState = z.infer<typeof peerState>;

/** A box's reading of the site's clock, for a peer to set its own by. */
export const peerTime = z
  .object({
    nodeId: z.uuid(),
    established: z.boolean().describe('false: the box has come up just now, and looks for the time itself'),
    received: reading.describe('as the question came, ms since the epoch'),
    sent: reading.describe('as the answer went'),
  })
  .meta({ id: 'PeerTime' });
export type PeerTime = z.infer<typeof peerTime>;

/** A peer as `/healthz` shows it. */
export const peerHealth = z
  .object({
    nodeId: z.string().nullable().describe('null: a static peer that never answered'),
    url: z.string(),
    state: z.enum(['alive', 'away', 'unknown']).describe('unknown: not asked yet'),
    reason: z.string().nullable().describe('why it is away; completes "the box ..."'),
    lastContactAt: instant.nullable(),
    version: z.string().nullable().describe('of the program'),
  })
  .meta({ id: 'PeerHealth' });
export type PeerHealth = z.infer<typeof peerHealth>;
export const frameQuery = z.object({
  url: z.url().max(4096).describe('the address of a web slide, or one that a redirect named'),
  origin: z.url().max(512).describe('the origin of the page that the frame is to be in'),
});

export const frameVerdict = z
  .object({
    url: z.string(),
    framable: z.boolean().describe('false: browsers would show nothing'),
    reason: z.string().nullable().describe('why not, as a clause about the page'),
  })
  .meta({ id: 'FrameVerdict' });
export type FrameVerdict = z.infer<typeof frameVerdict>;

const gaps = z
  .object({
    count: z.int().describe('since the start'),
    p50: z.number().nullable(),
    p99: z.number().nullable(),
    max: z.number().nullable(),
  })
  .meta({
    id: 'Gaps',
    description:
      'how long no intended picture was on the screen as slides were swapped, in ms, over the last 1,000 swaps',
  });
export type Gaps = z.infer<typeof gaps>;

const pageHealth = z
  .object({
    connectionId: z.string(),
    screenSlug: slug,
    clock: z.enum(clockStates).nullable().describe('whose clock can be right; null: the page has not said'),
    gaps,
  })
  .meta({ id: 'PageHealth' });
export type PageHealth = z.infer<typeof pageHealth>;

const skewSummary = z
  .object({ count: z.int(), p50: z.number(), p95: z.number(), max: z.number() })
  .describe('ms, early or late, of the last thousand');
export type SkewSummary = z.infer<typeof skewSummary>;

/** The copies of the remote media that the content names. */
export const copiesHealth = z
  .object({
    count: z.int().describe('files'),
    bytes: z.int(),
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
  id: z.string(),
  status: sourceStatus,
  fetched_at: instant.nullable().describe('when a fetch last succeeded'),
  reason: z.string().nullable().describe('why the last fetch failed; null: it did not'),
});

/** How far this box is one with the others, as `/healthz` shows it. */
export const replicationHealth = z
  .object({
    content: contentVersion
      .extend({ changedAt: instant })
      .nullable()
      .describe('what plays here; null: there never was any'),
    lost: z.array(z.string()).describe('files beside content.json: what stood in it until an edit on another box won'),
    refused: z
      .array(z.object({ nodeId: z.string(), reason: z.string() }))
      .describe('what peers offered and is not taken, the newest last'),
    media: z.object({
      named: z.int().describe('files under /media/ that the content names'),
      here: z.int().describe('those of them that are here, as new as anywhere'),
      missing: z
        .array(z.object({ name: z.string(), size: z.int().nullable(), reason: z.string() }))
        .describe('the others; size in bytes, null where no box has it; the first hundred'),
    }),
  })
  .meta({ id: 'Replication' });
export type ReplicationHealth = z.infer<typeof replicationHealth>;

/** The pulse of a page in the kiosk: what it painted since the beat before. The page tells it the kiosk, not the service. */
export const beat = z.object({
  frames: z.int().min(0).describe('animation frames since the beat before, of the few that are asked for'),
  ready: z.boolean().describe('there is something to be seen: a slide, or the page that waits for one'),
  hidden: z.boolean().describe('the page is hidden, so that it paints nothing, rightly'),
  slide: z.string().nullable().describe('id of the slide that is on'),
  video: z
    .object({ time: z.number(), frames: z.int().min(0) })
    .nullable()
    .describe('of the videos that should be moving: their times added up, s, and their frames, likewise'),
});
export type Beat = z.infer<typeof beat>;

/**
 * What a page in the kiosk asks for where it is to show a page of others that no frame may hold: a view of its own over
 * the page. It loads unseen, and is shown, hidden and closed by the id that the page gives it.
 */
export const foreignCall = z.discriminatedUnion('do', [
  z.object({ do: z.literal('open'), id: z.int(), url: z.url({ protocol: /^https?$/ }).max(4096) }),
  z.object({ do: z.literal(['show', 'hide', 'close']), id: z.int() }),
]);
export type ForeignCall = z.infer<typeof foreignCall>;

/** What a page of the service finds as `kiosk` where it is shown by one. */
export interface KioskBridge {
  beat(beat: Beat): void;
  /** Resolves once it is done; an opened page is loaded then. Rejects where it can't be. */
  foreign(call: ForeignCall): Promise<void>;
}

/** What the maintenance page of the kiosk may ask for, once it is unlocked. */
const maintenanceOrder = z.discriminatedUnion('do', [
  z.object({ do: z.literal('bind'), display: z.number(), screen: slug }),
  z.object({ do: z.literal('rotate'), display: z.number(), rotation: z.literal([0, 90, 180, 270]) }),
  z.object({ do: z.literal('displays'), displays: z.enum(['all', 'primary']) }),
  z.object({ do: z.literal('restart') }),
  z.object({ do: z.literal('quit') }),
]);
export type MaintenanceOrder = z.infer<typeof maintenanceOrder>;

/** What the maintenance page says: a PIN, an order, that it is done, or nothing: then it only looks. */
export const maintenanceCall = z.object({
  pin: z
    .string()
    .regex(/^\d{4,12}$/)
    .optional(),
  order: maintenanceOrder.optional(),
  close: z.literal(true).optional(),
});
export type MaintenanceCall = z.infer<typeof maintenanceCall>;

/** What the maintenance page shows once it is unlocked. */
export interface MaintenanceView {
  /** Of the program, and in brackets the channel that its updates come from. */
  version: string;
  /** Where other machines reach the service; null: it does not run, or the box is in no network. */
  address: string | null;
  /** Why the service does not run; null: it does. */
  fault: string | null;
  screens: { slug: string; name: string }[];
  /** Which displays have a window; `chosen`: those that config.json lists. */
  displays: 'all' | 'primary' | 'chosen';
  places: {
    id: number;
    name: string;
    deviceId: string;
    /** Slug of what it shows; null: nothing yet. */
    screen: string | null;
    /** Whether config.json says what it shows. */
    isFixed: boolean;
    rotation: 0 | 90 | 180 | 270;
    /** Its opening hours, in words; null: always on. */
    hours: string | null;
  }[];
  /** The newest lines of the log, oldest first: a JSON object each. */
  log: readonly string[];
}

export type MaintenanceAnswer =
  /** `isNew`: there is no PIN yet, and the one that is given becomes it. */
  | { state: 'locked'; isNew: boolean; waitMs: number; wasWrong: boolean }
  | { state: 'open'; view: MaintenanceView; error: string | null };

/** How a box with displays of its own is; part of `GET /healthz`. */
const kioskHealth = z
  .object({
    screens: z.array(
      z.object({
        display: z.string().describe("the system's name for it"),
        deviceId: z.string(),
        state: z.enum(['starting', 'playing', 'recovering', 'fallback']),
        slide: z.string().nullable().describe('id of the slide that was painted last'),
        lastBeatAt: instant.nullable().describe('when the page last told that it paints'),
      }),
    ),
    rendering: z.enum(['hardware', 'software']),
    recoveries: z
      .object({ reload: z.int(), recreate: z.int(), fallback: z.int(), relaunch: z.int() })
      .describe('steps of the recovery ladder since the start'),
    lastRecovery: z.object({ at: instant, step: z.string(), reason: z.string() }).nullable(),
    displays: z
      .object({
        on: z.boolean().describe('as the opening hours of its screens have it'),
        changesAt: instant.nullable().describe('null: not within two weeks'),
        by: z
          .enum(['none', 'cec', 'wlr-randr', 'dpms', 'blackout'])
          .describe('what switches them; none: nothing had to yet; blackout: nothing can, so they are black'),
      })
      .describe('whether they are switched on'),
    updates: z.object({
      ready: z.string().nullable().describe('the version that goes in at the next quiet hour'),
      onTrial: z.boolean().describe('this version was put in and has not proved well yet'),
      failed: z.array(z.string()).describe('versions that did not prove well here, and are not tried again'),
    }),
  })
  .meta({ id: 'KioskHealth' });
export type KioskHealth = z.infer<typeof kioskHealth>;

/** `GET /healthz`. What is amiss is said in sentences. */
export const health = z
  .object({
    status: z.literal('ok'),
    version: z.string(),
    variant: z.enum(variants),
    nodeId: z.string(),
    startedAt: instant,
    uptime: z.number().describe('seconds'),
    warnings: z.array(z.string()).describe('of the settings'),
    store: z.object({ faults: z.array(z.string()) }),
    content: z.object({
      status: z.enum(['ok', 'invalid']).describe('invalid: the file is at fault and the last good content plays'),
      errors: z.array(z.object({ path: z.string(), message: z.string() })),
    }),
    rssFeeds: z.array(sourceHealth),
    apiSources: z.array(sourceHealth),
    connections: z.int(),
    copies: copiesHealth,
    site: z.string(),
    peers: z.array(peerHealth),
    gaps,
    pages: z.array(pageHealth).describe('at most 50, those with the longest gaps first'),
    sync: z.object({
      reference: z.string().describe('node id of the box whose clock is the time of the site; it may be this one'),
      established: z.boolean().describe('false: it has come up just now, and looks for the time'),
      offset: z.number().describe("ms by which the site's time is ahead of this box's time of day"),
      roundTrip: z.number().nullable().describe('ms to the reference and back; null: this box is the reference'),
      swaps: skewSummary.nullable().describe("the pages' swaps against the moments when they were due"),
      videos: skewSummary.nullable().describe("the pages' videos against where they should be"),
    }),
    replication: replicationHealth,
    ffmpeg: z
      .object({ path: z.string(), source: z.enum(['setting', 'ffmpeg-static', 'PATH']), version: z.string() })
      .nullable()
      .describe('null: none was found, so there are no streams'),
    kiosk: kioskHealth.optional().describe('absent headless'),
  })
  .meta({ id: 'Health' });
export type Health = z.infer<typeof health>;

export const errorBody = z
  .object({
    error: z.object({
      code: z.string().regex(/^[a-z_]+$/),
      message: z.string().describe('one sentence for a person'),
      field: z.string().optional().describe('only where one field is at fault'),
    }),
  })
  .meta({ id: 'Error' });

/** The fields that the baseline variant does not have, by the shape that they are part of. */
export const extendedOnly = {
  playlist: ['rssFeeds', 'apiSources', 'timetableGroups', 'revision'],
  connection: ['clientName', 'deviceId', 'currentSlideId', 'currentSlideTitle'],
  snapshot: ['degraded'],
  commandResult: ['degraded'],
} as const;
