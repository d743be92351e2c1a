/** The outgoing proxy of the kiosk's pages and updates. */
import type { AuthInfo, Session } from 'electron';
import { bypassRules } from '../service/domain/proxy-bypass.ts';
import type { Options } from '../service/public.ts';

type Answer = (username: string, password: string) => void;
type Login = Pick<AuthInfo, 'isProxy' | 'host' | 'port'>;

/** The used part of Electron's `app`. */
interface ProxyApp {
  on(event: 'session-created', listener: (session: Session) => void): unknown;
  on(
    event: 'login',
    listener: (
      event: { preventDefault(): void },
      contents: unknown,
      details: { url: string },
      auth: Login,
      answer: Answer,
    ) => void,
  ): unknown;
}

export type KioskProxy = ReturnType<typeof createKioskProxy>;

/** How long a proxy that asks again for the same page counts as one that refuses the password, in ms. */
const REFUSED_MS = 10_000;
/** Limit of remembered requests. */
const MAX_ASKED = 100;

/** Must be called before the first session exists. */
export const createKioskProxy = (app: ProxyApp, monotonicNow = () => performance.now()) => {
  const sessions = new Set<Session>();
  const asked = new Map<string, number>();
  let proxy: URL | null = null;
  /** Null: the settings are not known yet, or name no proxy. */
  let config: Parameters<Session['setProxy']>[0] | null = null;

  const credentialsFor = ({ isProxy, host, port }: Login): [string, string] | null => {
    if (proxy === null || !isProxy || `${proxy.username}${proxy.password}` === '') return null;
    const ownPort = Number(proxy.port) || (proxy.protocol === 'https:' ? 443 : 80);
    if (host !== proxy.hostname.replace(/^\[|\]$/g, '') || port !== ownPort) return null;
    return [decodeURIComponent(proxy.username), decodeURIComponent(proxy.password)];
  };

  /** @returns null: there are none for this host, or the proxy refused them a moment ago */
  const offer = (auth: Login, subject: string): [string, string] | null => {
    const credentials = credentialsFor(auth);
    const before = asked.get(subject);
    // Chromium asks again and again: a wrong password would be sent for ever.
    if (credentials === null || (before !== undefined && monotonicNow() - before < REFUSED_MS)) return null;
    if (asked.size >= MAX_ASKED) asked.clear();
    asked.set(subject, monotonicNow());
    return credentials;
  };

  app.on('session-created', (session) => {
    sessions.add(session);
    if (config !== null) void session.setProxy(config);
  });
  app.on('login', (event, _contents, { url }, auth, answer) => {
    const credentials = offer(auth, url);
    if (credentials === null) return;
    event.preventDefault();
    answer(...credentials);
  });

  return {
    /** Applies the settings to all sessions, those that exist and those to come. */
    use: async ({ proxy: given, noProxy }: Pick<Options, 'proxy' | 'noProxy'>): Promise<void> => {
      if (given === null) return;
      proxy = new URL(given);
      const chosen = {
        mode: 'fixed_servers' as const,
        proxyRules: `${proxy.protocol}//${proxy.host}`,
        proxyBypassRules: bypassRules(noProxy),
      };
      config = chosen;
      await Promise.all([...sessions].map((session) => session.setProxy(chosen)));
    },
    /** Gives the proxy its user and password, once; another host, or a proxy that refuses them, gets none. */
    answer: (auth: Login, answer: Answer): void => {
      const credentials = offer(auth, 'updates');
      // Without arguments the request is cancelled.
      if (credentials === null) (answer as () => void)();
      else answer(...credentials);
    },
  };
};
