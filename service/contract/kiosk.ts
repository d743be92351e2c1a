/** Messages between a page and the kiosk that shows it. */
import { z } from 'zod';
import { endingActions } from './console/action-names.ts';
import { maxSecret } from './console/protection.ts';
import { pageUrl } from './content-terms.ts';
import type { KioskHealth } from './health.ts';
import type { HotspotShown } from './onboarding.ts';
import { slug } from './terms.ts';
import { sessionName, webLook } from './web-look.ts';

/** Heartbeat of a page in the kiosk: what it painted since the previous heartbeat. Sent to the kiosk, not to the service. */
export const heartbeat = z.object({
  frames: z.int().min(0).describe('animation frames since the previous heartbeat, counted up to a small limit'),
  ready: z.boolean().describe('the page has content: a slide, or the page that waits for one'),
  hidden: z.boolean().describe('the page is hidden and therefore paints nothing'),
  slide: z.string().nullable().describe('id of the current slide'),
  free: z.boolean().describe('a reload loses nothing: no pause, blackout, redirect or takeover'),
  video: z
    .object({ time: z.number(), frames: z.int().min(0) })
    .nullable()
    .describe(
      'sums over the playing videos: their positions in s, and the frames since the previous heartbeat; null: none is playing',
    ),
});
export type Heartbeat = z.infer<typeof heartbeat>;

const share = z.number().min(0).max(1);
/** A part of the window, in shares of its width and height. */
const viewArea = z.object({ x: share, y: share, width: share, height: share });
export type ViewArea = z.infer<typeof viewArea>;

/** How an external page is shown, as in `content.web` of its slide. */
const pageLook = z.object(webLook);
export type PageLook = z.infer<typeof pageLook>;

/**
 * Request of a page in the kiosk to show an external page that forbids frames: a separate view over the page, or over its
 * main zone. The view loads hidden, and is shown, hidden and closed by the id that the page assigns.
 */
export const externalCall = z.discriminatedUnion('do', [
  z.object({
    do: z.literal('open'),
    id: z.int(),
    url: z.url({ protocol: /^https?$/ }).max(4096),
    area: viewArea,
    look: pageLook.optional(),
  }),
  z.object({ do: z.literal('show'), id: z.int(), area: viewArea }),
  z.object({ do: z.literal(['hide', 'close', 'awaitEnd']), id: z.int() }),
]);
export type ExternalCall = z.infer<typeof externalCall>;
/** What became of a page: `signed out`, or nothing that its slide need know. */
export type ExternalAnswer = 'signed out' | null;

/**
 * Why a page in the kiosk can not be seen: its display is off or black outside opening hours, the maintenance page covers
 * it, or it loads under another page; null: it can.
 */
export const pageCover = z.enum(['closed', 'maintenance', 'hidden']).nullable();
export type PageCover = z.infer<typeof pageCover>;

/** What a proof of a device is made for: the box that served the page, and the time that it told, ms since the epoch. */
export const proofNeeds = z.object({
  nodeId: z.string().max(256),
  time: z
    .int()
    .min(0)
    .max(1e13 - 1),
});

/** The global `kiosk` of pages that a kiosk shows. */
export interface KioskBridge {
  heartbeat(heartbeat: Heartbeat): void;
  /**
   * Resolves when the call is done; `open` when the page has loaded or turns out to be signed out, `awaitEnd` when the page
   * was closed, is signed out, failed to load again, or its process hangs or is gone. Rejects on failure.
   */
  external(call: ExternalCall): Promise<ExternalAnswer>;
  /** Resolves when what covers the page is something else than `known`. */
  cover(known: PageCover): Promise<PageCover>;
  /**
   * Resolves with a proof that the page is the device of its display, as in `x-signage-device-proof`. Its key stays in the
   * kiosk. Rejects for another box than the one that the kiosk hosts.
   */
  prove(needs: z.infer<typeof proofNeeds>): Promise<string>;
}

const secretText = z.string().min(1).max(maxSecret);

/** Requests of the unlocked maintenance page. */
const maintenanceOrder = z.discriminatedUnion('do', [
  z.object({ do: z.literal('bind'), display: z.number(), screen: slug }),
  z.object({ do: z.literal('rotate'), display: z.number(), rotation: z.literal([0, 90, 180, 270]) }),
  z.object({ do: z.literal('displays'), displays: z.enum(['all', 'primary']) }),
  /** Opens or closes the Wi-Fi of the box itself. */
  z.object({ do: z.literal('hotspot'), open: z.boolean() }),
  z.object({ do: z.literal('restart') }),
  /** Restarts or switches off the machine, or returns it to how the package came. */
  z.object({ do: z.literal('machine'), action: z.literal(endingActions) }),
  z.object({ do: z.literal('quit') }),
  /** Makes a secret for the site, or enters that of the site. */
  z.object({ do: z.literal('protect'), secret: secretText.optional() }),
  /** Makes an admin; where the PIN was chosen on this page, the secret of the site is needed as well. */
  z.object({ do: z.literal('admin'), secret: secretText.optional() }),
  /** Opens the page of a session beside this one, in which somebody signs in. */
  z.object({ do: z.literal('sign in'), session: sessionName, address: pageUrl }),
  /** Closes that page, and judges whether the slide's page is signed in now. */
  z.object({ do: z.literal('signed in') }),
  /** Forgets the cookies and the storage of a session. */
  z.object({ do: z.literal('sign out'), session: sessionName, address: pageUrl }),
]);
export type MaintenanceOrder = z.infer<typeof maintenanceOrder>;

/** Message of the maintenance page: a PIN, the site's secret, an order, or `close`; empty: reads the state. */
export const maintenanceCall = z.object({
  pin: z
    .string()
    .regex(/^\d{4,12}$/)
    .optional(),
  secret: secretText.optional(),
  order: maintenanceOrder.optional(),
  close: z.literal(true).optional(),
});
export type MaintenanceCall = z.infer<typeof maintenanceCall>;

/** As in `content.json`: an opening time of weekdays or of one date; a date without times is closed. */
export interface OpeningTime {
  /** ISO weekdays; absent: every day. */
  days?: readonly number[] | undefined;
  /** `YYYY-MM-DD`. */
  date?: string | undefined;
  /** `HH:MM`. */
  open?: string | undefined;
  /** `HH:MM`; at or before `open` it is on the next day. */
  close?: string | undefined;
}

/** Null: always open. */
export type Hours = readonly OpeningTime[] | null;

/** Data of the unlocked maintenance page. */
export interface MaintenanceView {
  /** Version of the program, and in brackets its update channel. */
  version: string;
  /** As in `/healthz`, and the hours in which updates are installed, `HH:MM-HH:MM`; null: the settings cannot be read. */
  updates: KioskHealth['updates'] & { hours: string | null };
  /** URL of the service for other machines; null: the service does not run, or there is no network. */
  address: string | null;
  /** SHA-256 of the root certificate of the site, for people to compare; null: there is none. */
  root: string | null;
  /** Why the service does not run; null: it runs. */
  error: string | null;
  /** In which the page tells times, IANA; null: the service does not run. */
  timeZone: string | null;
  /**
   * Whether the site is protected with a secret; null: the service does not run, or is the baseline, which has no people.
   * `pin`: the PIN is set in config.json; otherwise making an admin takes the secret, too.
   */
  site: { isProtected: boolean; pin: boolean } | null;
  screens: { slug: string; name: string }[];
  /** Which displays have a window; `chosen`: those listed in config.json. */
  displays: 'all' | 'primary' | 'chosen';
  assignments: {
    id: number;
    name: string;
    deviceId: string;
    /** Slug of its screen; null: none yet. */
    screen: string | null;
    /** Whether config.json sets the screen. */
    isFixed: boolean;
    rotation: 0 | 90 | 180 | 270;
    hours: Hours;
  }[];
  /** The pages that keep who is signed in, one for each session and origin. */
  sessions: {
    session: string;
    /** Of the first slide that names it. */
    address: string;
    /** When somebody signed in here, ms since the epoch; null: nobody has. */
    signedInAt: number | null;
    /** Whether a page of it turned out to be signed out. */
    isOut: boolean;
    /** What that page showed, as a data URL of a JPEG; null: it has no picture. */
    picture: string | null;
  }[];
  /** Where somebody is signing in, in a view beside this page; null: nobody is. */
  signingIn: { session: string; address: string } | null;
  /** Whether the machine takes orders: the player was installed as its kiosk. */
  machine: boolean;
  /** Whether the program can end: in an image, where nobody can log in, it would start again. */
  canQuit: boolean;
  /** The Wi-Fi of the box itself: `phase` null: it cannot open one; `shown` null: it is not open. */
  hotspot: { phase: 'closed' | 'opening' | 'open' | 'joining' | null; shown: HotspotShown | null };
  /** The newest lines of the log, oldest first: a JSON object each. */
  log: readonly string[];
}

/** What the page shows once: a new secret, or the invitation of an admin. */
export type MaintenanceShown =
  | { what: 'secret'; secret: string; config: string; boxes: string[] }
  | { what: 'entered' }
  | { what: 'invitation'; url: string; expiresAt: string };

/** Why an order could not be carried out, as far as the page has a sentence of its own for it. */
export type MaintenanceRefusal = 'noSettings' | 'noService' | 'noSession' | 'stillAsks' | 'onTrial' | 'notTaken';

export type MaintenanceAnswer =
  /**
   * `ask`: what opens it. `new pin`: none is set, and the one that is entered becomes the PIN; `secret`: it is too late for
   * that without the site's secret; `settings`: and there is no secret, so that only config.json can set a PIN.
   */
  | { state: 'locked'; ask: 'pin' | 'new pin' | 'secret' | 'settings'; waitMs: number; wasWrong: boolean }
  /** `wrongSecret`: the order was not carried out; `waitMs` until the next attempt counts. */
  | {
      state: 'open';
      view: MaintenanceView;
      /** A reason, or an error in the words of the system. */
      error: MaintenanceRefusal | (string & {}) | null;
      shown: MaintenanceShown | null;
      wrongSecret: { waitMs: number } | null;
    };
