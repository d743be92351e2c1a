/** What a page and the kiosk around it say to each other. */
import { z } from 'zod';
import type { KioskHealth } from './health.ts';
import { slug } from './terms.ts';

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
  z.object({ do: z.literal(['show', 'hide', 'close', 'awaitEnd']), id: z.int() }),
]);
export type ForeignCall = z.infer<typeof foreignCall>;

/** What a page of the service finds as `kiosk` where it is shown by one. */
export interface KioskBridge {
  beat(beat: Beat): void;
  /**
   * Resolves once it is done; an opened page is loaded then. `awaitEnd` resolves once the page is gone: closed, or its
   * process is lost. Rejects where it can't be done.
   */
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

/** As in `content.json`: times of the week, or of one day; a date without times is closed. */
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

/** What the maintenance page shows once it is unlocked. */
export interface MaintenanceView {
  /** Of the program, and in brackets the channel that its updates come from. */
  version: string;
  /** As in the health; and when one that is ready goes in, `HH:MM-HH:MM`, null: the settings can't be read. */
  updates: KioskHealth['updates'] & { hours: string | null };
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
    hours: Hours;
  }[];
  /** The newest lines of the log, oldest first: a JSON object each. */
  log: readonly string[];
}

export type MaintenanceAnswer =
  /** `isNew`: there is no PIN yet, and the one that is given becomes it. */
  | { state: 'locked'; isNew: boolean; waitMs: number; wasWrong: boolean }
  | { state: 'open'; view: MaintenanceView; error: string | null };
