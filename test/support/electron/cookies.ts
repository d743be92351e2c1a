/** The cookies of a session, as Electron tells and takes them (shell/browser/api/electron_api_cookies.cc). */
import { EventEmitter } from 'node:events';
import type { Chromium } from './chromium.ts';
import { theWorld } from './world.ts';

type SameSite = 'unspecified' | 'no_restriction' | 'lax' | 'strict';

interface Told {
  name: string;
  value: string;
  domain: string;
  hostOnly: boolean;
  path: string;
  secure: boolean;
  httpOnly: boolean;
  session: boolean;
  sameSite: SameSite;
  expirationDate?: number;
}

interface Given extends Partial<Omit<Told, 'session' | 'hostOnly'>> {
  url: string;
}

/** Of Chromium's protocol. */
interface Cookie {
  name: string;
  value: string;
  domain: string;
  path: string;
  secure: boolean;
  httpOnly: boolean;
  expires: number;
  sameSite?: string;
}

const sameSites: Readonly<Record<string, SameSite>> = { None: 'no_restriction', Lax: 'lax', Strict: 'strict' };
const nameOf = (sameSite: SameSite): string | undefined =>
  Object.entries(sameSites).find(([, each]) => each === sameSite)?.[0];

/** Chromium tells of no changes: they are looked for while somebody listens. */
const LOOK_MS = 200;

const told = ({ expires, sameSite = '', ...rest }: Cookie): Told => ({
  name: rest.name,
  value: rest.value,
  domain: rest.domain,
  hostOnly: !rest.domain.startsWith('.'),
  path: rest.path,
  secure: rest.secure,
  httpOnly: rest.httpOnly,
  session: expires < 0,
  sameSite: sameSites[sameSite] ?? 'unspecified',
  ...(expires >= 0 && { expirationDate: expires }),
});

export class Cookies extends EventEmitter {
  readonly #context: () => Promise<string | undefined>;
  #looking: NodeJS.Timeout | undefined;
  #known = new Map<string, Told>();

  /** @param context of Chromium, for the session */
  constructor(context: () => Promise<string | undefined>) {
    super();
    this.#context = context;
    this.on('newListener', (event) => {
      if (event === 'changed') this.#looking ??= setInterval(() => void this.#look().catch(() => {}), LOOK_MS).unref();
    });
  }

  async #send(method: string, parameters: object = {}): Promise<Record<string, unknown>> {
    const chromium: Chromium = await theWorld().chromium;
    return chromium.send(method, { ...parameters, browserContextId: await this.#context() });
  }

  async #look(): Promise<void> {
    const found = new Map((await this.get({})).map((each) => [`${each.name} ${each.domain}${each.path}`, each]));
    const before = this.#known;
    this.#known = found;
    for (const [key, each] of found) {
      if (JSON.stringify(before.get(key)) !== JSON.stringify(each)) this.emit('changed', {}, each, 'inserted', false);
    }
    for (const [key, each] of before) if (!found.has(key)) this.emit('changed', {}, each, 'explicit', true);
  }

  async get(_filter: object): Promise<Told[]> {
    const { cookies } = await this.#send('Storage.getCookies');
    return (cookies as Cookie[]).map(told);
  }

  async set({ url, name = '', value = '', domain, path, secure, httpOnly, expirationDate, sameSite = 'lax' }: Given) {
    if (!URL.canParse(url))
      throw new Error('Failed to set cookie - The cookie was set with an invalid Domain attribute');
    if (domain !== undefined && !new URL(url).hostname.endsWith(domain.replace(/^\./, ''))) {
      throw new Error('Failed to set cookie - The cookie was set with an invalid Domain attribute');
    }
    if (sameSite === 'no_restriction' && secure !== true) {
      throw new Error('Failed to set cookie - The cookie contained SameSite=None but was not Secure');
    }
    if (expirationDate !== undefined && expirationDate * 1_000 <= Date.now()) return;
    const cookie = {
      url,
      name,
      value,
      domain,
      path,
      secure,
      httpOnly,
      expires: expirationDate,
      sameSite: nameOf(sameSite),
    };
    await this.#send('Storage.setCookies', { cookies: [cookie] });
  }
}
