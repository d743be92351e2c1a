/**
 * Sessions of pages: who is signed in to a page of others, kept for each name and origin in a partition of its own. A
 * partition lies in memory, since the runtime keeps what it writes in the clear; its cookies and the storage of its origin
 * are kept sealed.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { Cookie, Session, WebContents } from 'electron';
import type { Logger } from 'pino';
import { createDebounce } from '../../service/domain/debounce.ts';
import type { KioskHealth, MaintenanceView, Service } from '../../service/public.ts';
import {
  areSameCookies,
  type Kept,
  type KeptCookie,
  type KeptSession,
  keptLimits,
  openKept,
  storageOf,
} from './session-store.ts';
import { isSignedOut } from './signed-out.ts';

export interface PageSession {
  partition: string;
  /** Gives a new page the storage that was kept, which only a page of the origin can take. Before it loads. */
  restore(contents: WebContents): Promise<void>;
  /** Whether a page is signed out; what it shows then is kept for the maintenance page. */
  isOut(contents: WebContents): Promise<boolean>;
  /** Keeps the storage of a page. */
  keep(contents: WebContents): Promise<void>;
}

interface Ports {
  log: Pick<Logger, 'warn' | 'error'>;
  dataDir: string;
  openPartition(partition: string): Session;
  service(): Pick<Service, 'sessionPages' | 'onSession'> | null;
}

interface Opened {
  session: Session;
  /** What was kept and no page has taken yet, in place of which nothing is kept; null: nothing. */
  storage: Record<string, string> | null;
  pages: Set<WebContents>;
  /** How often it was signed out: what was read before that is not kept after it. */
  signOuts: number;
  /** Keeps the cookies, if they have changed. */
  flush(): Promise<void>;
  /** Forgets that they have changed. */
  cancel(): void;
}

/** Sites change cookies with every request; that somebody has signed in is kept at once. */
const SELDOM = { quietMs: 60_000, longestMs: 60_000 };
/** How long a page is waited for that is opened only for its storage, in ms. */
const RESTORE_MS = 4_000;
const PICTURE_MS = 1_000;
const PICTURE_WIDTH = 480;
const JPEG_QUALITY = 60;
/** Pages that are remembered as signed out. */
const MAX_OUT = 100;

const READ = `(() => {
  const entries = Object.entries(localStorage);
  const length = entries.reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  return length > ${keptLimits.storageCharacters} ? null : Object.fromEntries(entries);
})()`;
const writeScript = (storage: Record<string, string>): string =>
  `for (const [key, value] of Object.entries(${JSON.stringify(storage)})) if (localStorage.getItem(key) === null) localStorage.setItem(key, value); true`;

const keptCookie = (cookie: Cookie): KeptCookie => ({
  name: cookie.name,
  value: cookie.value,
  domain: cookie.domain ?? '',
  hostOnly: cookie.hostOnly ?? false,
  path: cookie.path ?? '/',
  secure: cookie.secure ?? false,
  httpOnly: cookie.httpOnly ?? false,
  sameSite: cookie.sameSite,
  expires: cookie.expirationDate ?? null,
});

const setting = ({ domain, hostOnly, expires, secure, path, ...rest }: KeptCookie): Electron.CookiesSetDetails => ({
  ...rest,
  url: `${secure ? 'https' : 'http'}://${domain.replace(/^\./, '')}${path}`,
  path,
  secure,
  // With a domain, even its own, a cookie is sent to subdomains, too.
  ...(!hostOnly && { domain }),
  ...(expires !== null && { expirationDate: expires }),
});

interface Used extends Pick<KeptSession, 'name' | 'origin' | 'signedInAt'> {
  /** Of the first slide. */
  address: string;
  /** The addresses of those that are signed out, and what one of them showed. */
  out: string[];
  picture: string | null;
}

const isSame =
  ({ name, origin }: Pick<KeptSession, 'name' | 'origin'>) =>
  (each: Pick<KeptSession, 'name' | 'origin'>): boolean =>
    each.name === name && each.origin === origin;

/** What the page shows, as a data URL; null: it has no picture. */
const pictureOf = async (contents: WebContents): Promise<string | null> => {
  const image = await Promise.race([contents.capturePage().catch(() => null), wait(PICTURE_MS, null, { ref: false })]);
  if (image === null || image.isEmpty()) return null;
  const bytes = image.resize({ width: PICTURE_WIDTH }).toJPEG(JPEG_QUALITY);
  return `data:image/jpeg;base64,${Buffer.from(bytes).toString('base64')}`;
};

export const createSessions = ({ log, dataDir, openPartition, service }: Ports) => {
  let kept: Promise<Kept> | null = null;
  let known: readonly KeptSession[] = [];
  const opened = new Map<string, Opened>();
  /** What pages showed that turned out to be signed out, by session and address. */
  const out = new Map<string, string | null>();
  const outKey = (name: string, address: string): string => `${name} ${address}`;

  const load = async (): Promise<Kept> => {
    kept ??= openKept(dataDir, log);
    try {
      const store = await kept;
      known = store.read().sessions;
      return store;
    } catch (error) {
      kept = null;
      throw error;
    }
  };
  const change = async (name: string, origin: string, changes: Partial<KeptSession> | null): Promise<void> => {
    const store = await load();
    await store.update(({ sessions }) => {
      const before = sessions.find(isSame({ name, origin }));
      const rest = sessions.filter((each) => each !== before);
      if (changes === null) return { sessions: rest };
      const blank = { name, origin, signedInAt: null, cookies: [], storage: {} };
      const next = { ...blank, ...before, ...changes, usedAt: Date.now() };
      const newest = rest.toSorted((a, b) => b.usedAt - a.usedAt).slice(0, keptLimits.sessions - 1);
      return { sessions: [...newest, next] };
    });
    known = store.read().sessions;
  };
  const warn = (error: unknown): void => log.warn({ err: error }, 'a session of pages could not be kept');

  const openOnce = async (name: string, origin: string) => {
    const partition = `session-${createHash('sha256').update(`${name} ${origin}`).digest('hex').slice(0, 32)}`;
    const before = opened.get(partition);
    if (before !== undefined) return { partition, entry: before };
    const store = await load();
    const raced = opened.get(partition);
    if (raced !== undefined) return { partition, entry: raced };
    const session = openPartition(partition);
    const { cookies = [], storage = {} } = store.read().sessions.find(isSame({ name, origin })) ?? {};
    const read = async (): Promise<void> => {
      const { signOuts } = entry;
      const all = await session.cookies.get({});
      const fitting = all.filter(({ name: own, value }) => own.length + value.length <= keptLimits.cookieCharacters);
      const next = fitting.slice(0, keptLimits.cookies).map(keptCookie);
      const before = known.find(isSame({ name, origin }))?.cookies ?? [];
      if (entry.signOuts === signOuts && !areSameCookies(next, before)) await change(name, origin, { cookies: next });
    };
    const changed = createDebounce(() => void read().catch(warn), SELDOM);
    const entry: Opened = {
      session,
      storage: Object.keys(storage).length === 0 ? null : storage,
      pages: new Set(),
      signOuts: 0,
      cancel: changed.cancel,
      flush: async () => {
        if (changed.cancel()) await read().catch(warn);
      },
    };
    opened.set(partition, entry);
    // One that the browser refuses now, such as one that has expired, is left out.
    await Promise.allSettled(cookies.map((each) => session.cookies.set(setting(each))));
    session.cookies.on('changed', changed);
    return { partition, entry };
  };

  const keepStorage = async (name: string, origin: string, entry: Opened, contents: WebContents): Promise<void> => {
    if (contents.isDestroyed() || !contents.getURL().startsWith(`${origin}/`) || entry.storage !== null) return;
    const { signOuts } = entry;
    const read = contents.mainFrame.executeJavaScript(READ).catch(() => null);
    // It runs in the page's own world, which may answer what it likes.
    const storage = storageOf(await Promise.race([read, wait(PICTURE_MS, null, { ref: false })]));
    if (storage === null || entry.signOuts !== signOuts) return;
    const before = known.find(isSame({ name, origin }))?.storage ?? {};
    if (JSON.stringify(storage) === JSON.stringify(before)) return;
    await change(name, origin, { storage });
  };

  const open = async (name: string, address: string, signedInAt: string | null): Promise<PageSession> => {
    const { origin } = new URL(address);
    const { partition, entry } = await openOnce(name, origin);
    return {
      partition,
      restore: async (contents) => {
        entry.pages.add(contents);
        contents.once('destroyed', () => entry.pages.delete(contents));
        const { storage } = entry;
        if (storage === null) return;
        const committed = once(contents, 'did-navigate');
        const loaded = contents.loadURL(address).catch(() => {});
        const late = wait(RESTORE_MS, undefined, { ref: false });
        await Promise.race([committed, loaded, once(contents, 'destroyed'), late]);
        if (contents.isDestroyed() || !contents.getURL().startsWith(`${origin}/`)) return;
        // Another page has taken it, or somebody has signed in or out meanwhile.
        if (entry.storage !== storage) return;
        // While the site is down that is the page of an error, which has the address, but no storage.
        const isTaken = await contents.mainFrame.executeJavaScript(writeScript(storage)).catch(() => false);
        if (isTaken === true) entry.storage = null;
      },
      isOut: async (contents) => {
        const isOut = await isSignedOut(contents, { address, signedInAt });
        const key = outKey(name, address);
        if (!isOut) out.delete(key);
        else if (!contents.isDestroyed()) {
          const picture = await pictureOf(contents);
          out.set(key, picture);
          for (const oldest of out.keys()) if (out.size > MAX_OUT) out.delete(oldest);
        }
        return isOut;
      },
      keep: (contents) => keepStorage(name, origin, entry, contents).catch(warn),
    };
  };

  const pages = () => service()?.sessionPages() ?? [];
  /** What slides name, one for each name and origin. */
  const used = () => {
    const all = new Map<string, Used>();
    for (const { session: name, address } of pages()) {
      const { origin } = new URL(address);
      const signedInAt = known.find(isSame({ name, origin }))?.signedInAt ?? null;
      const key = `${name} ${origin}`;
      const one = all.get(key) ?? { name, origin, address, signedInAt, out: [], picture: null };
      all.set(key, one);
      const picture = out.get(outKey(name, address));
      if (picture === undefined) continue;
      one.out.push(address);
      one.picture ??= picture;
    }
    return [...all.values()];
  };

  return {
    open,
    signedIn: async (name: string, address: string): Promise<void> => {
      const { origin } = new URL(address);
      const { entry } = await openOnce(name, origin);
      // It must not be mixed with the storage of the new user.
      entry.storage = null;
      await entry.flush();
      await change(name, origin, { signedInAt: Date.now() });
      for (const page of pages()) if (page.session === name) out.delete(outKey(name, page.address));
      await service()?.onSession('signin', name, origin);
    },
    /** Ends the pages of a session, which would go on signed in, and forgets its cookies and its storage. */
    signOut: async (name: string, address: string): Promise<void> => {
      const { origin } = new URL(address);
      const { entry } = await openOnce(name, origin);
      entry.signOuts += 1;
      entry.storage = null;
      for (const contents of entry.pages) contents.close();
      await entry.session.clearStorageData();
      entry.cancel();
      await change(name, origin, null);
      await service()?.onSession('signout', name, origin);
    },
    /** For the maintenance page. */
    list: (): MaintenanceView['sessions'] =>
      used().map(({ name, address, signedInAt, out: addresses, picture }) => {
        return { session: name, address, signedInAt, isOut: addresses.length > 0, picture };
      }),
    /** When the address of a session's page begins so, somebody is signed in; null: with its origin. */
    signedInAtOf: (name: string, address: string): string | null =>
      pages().find((page) => page.session === name && page.address === address)?.signedInAt ?? null,
    health: (): KioskHealth['sessions'] =>
      used().map(({ name, origin, signedInAt, out: addresses }) => ({
        name,
        origin,
        signed_in_at: signedInAt === null ? null : new Date(signedInAt).toISOString(),
        signed_out: addresses,
      })),
    /** Loads what is kept, so that it can be told. */
    load: () => load().catch(warn),
    close: async (): Promise<void> => {
      await Promise.all([...opened.values()].map(({ flush }) => flush()));
      const store = await kept?.catch(() => null);
      await store?.close();
    },
  };
};

export type Sessions = ReturnType<typeof createSessions>;
