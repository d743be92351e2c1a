/** What is kept of sessions over restarts: sealed, in a file of the data directory. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';
import { createDurable, type Durable, openSealKey, sealedWith, systemDisk } from '../../service/public.ts';

/** Limits of what pages can make grow. */
export const keptLimits = { sessions: 50, cookies: 300, cookieCharacters: 8_192, storageCharacters: 524_288 } as const;

const cookie = z.object({
  name: z.string(),
  value: z.string(),
  domain: z.string(),
  hostOnly: z.boolean(),
  path: z.string(),
  secure: z.boolean(),
  httpOnly: z.boolean(),
  sameSite: z.enum(['unspecified', 'no_restriction', 'lax', 'strict']),
  /** Seconds since the epoch; null: it ends with the browser, and is kept all the same. */
  expires: z.number().nullable(),
});
export type KeptCookie = z.infer<typeof cookie>;

const keptSession = z.object({
  name: z.string(),
  origin: z.string(),
  /** When somebody signed in, and when the session was last used, ms since the epoch. */
  signedInAt: z.number().nullable(),
  usedAt: z.number(),
  cookies: z.array(cookie),
  /** Of the origin. */
  storage: z.record(z.string(), z.string()),
});
export type KeptSession = z.infer<typeof keptSession>;

/** What a page says that its storage holds, which may be anything; null: it is not kept. */
export const storageOf = (answer: unknown): KeptSession['storage'] | null => {
  const { success, data } = keptSession.shape.storage.safeParse(answer);
  if (!success) return null;
  const length = Object.entries(data).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  return length > keptLimits.storageCharacters ? null : data;
};

const EXPIRES_STEP = 600;
const comparable = (cookies: readonly KeptCookie[]): string =>
  JSON.stringify(
    cookies
      .map(({ expires, ...rest }) =>
        JSON.stringify([rest, expires === null ? null : Math.floor(expires / EXPIRES_STEP)]),
      )
      .toSorted(),
  );
/** Whether cookies are the same, though sites move their ends on with every request: by less than ten minutes. */
export const areSameCookies = (a: readonly KeptCookie[], b: readonly KeptCookie[]): boolean =>
  comparable(a) === comparable(b);

export type Kept = Durable<{ sessions: KeptSession[] }>;

/** @throws the system's error if the folder cannot be read */
export const openKept = async (dataDir: string, log: Pick<Logger, 'error'>): Promise<Kept> => {
  const key = await openSealKey({ dirs: { data: dataDir }, log });
  const plain = z.object({ sessions: z.array(keptSession) });
  return createDurable({
    path: join(dataDir, 'sessions.json'),
    schema: z.object({ sessions: sealedWith(key, plain.shape.sessions) }) as typeof plain,
    initial: { sessions: [] },
    isInitialKept: false,
    log,
    disk: systemDisk,
    now: Date.now,
  });
};
