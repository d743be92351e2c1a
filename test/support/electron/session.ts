/** Sessions: a browser context of Chromium each, with the permissions that the handlers give. */
import { EventEmitter } from 'node:events';
import type { Chromium } from './chromium.ts';
import { Cookies } from './cookies.ts';
import { theWorld } from './world.ts';

type RequestHandler = (contents: null, permission: string, answer: (granted: boolean) => void) => void;
type CheckHandler = (contents: null, permission: string) => boolean;

type Headers = Record<string, string>;
type BeforeSendHeaders = (
  details: Record<string, unknown> & { requestHeaders: Headers },
  answer: (response: { cancel?: boolean; requestHeaders?: Headers }) => void,
) => void;

/** Chromium's names of Electron's permissions. */
const permissions: Record<string, string> = {
  geolocation: 'geolocation',
  notifications: 'notifications',
  midi: 'midi',
  media: 'camera',
  'clipboard-read': 'clipboard-read',
  'idle-detection': 'idle-detection',
};

interface Privileges {
  standard?: boolean;
  secure?: boolean;
  supportFetchAPI?: boolean;
}

/** What `registerSchemesAsPrivileged` was given last, by scheme. */
export const privileges = new Map<string, Privileges>();

/** The used part of Electron's `Session`. Without handlers everything is granted, as there. */
export class Session extends EventEmitter {
  readonly partition: string;
  #request: RequestHandler | null = null;
  #check: CheckHandler | null = null;
  #context: Promise<string | undefined> | undefined;

  /** The handlers of the app's own schemes. */
  readonly handlers = new Map<string, (request: Request) => Promise<Response> | Response>();
  readonly protocol = {
    handle: (scheme: string, handler: (request: Request) => Promise<Response> | Response): void => {
      if (this.handlers.has(scheme)) throw new Error(`Failed to register protocol: ${scheme}`);
      this.handlers.set(scheme, handler);
    },
  };

  constructor(partition: string) {
    super();
    this.partition = partition;
  }

  setPermissionRequestHandler(handler: RequestHandler | null): void {
    this.#request = handler;
  }
  setPermissionCheckHandler(handler: CheckHandler | null): void {
    this.#check = handler;
  }
  /** The handler of devices, which everything is refused without. */
  devicePermission: ((details: { deviceType: string }) => boolean) | null = null;
  setDevicePermissionHandler(handler: Session['devicePermission']): void {
    this.devicePermission = handler;
  }
  /** What {@link setProxy} was given last; null: the proxy of the system. */
  proxy: object | null = null;
  setProxy(config: object): Promise<void> {
    this.proxy = config;
    return Promise.resolve();
  }

  /** The listener of {@link webRequest}; the last one alone counts. */
  beforeSendHeaders: BeforeSendHeaders | null = null;
  readonly webRequest = {
    onBeforeSendHeaders: (listener: BeforeSendHeaders | null): void => {
      this.beforeSendHeaders = listener;
    },
  };

  readonly cookies = new Cookies(async () => this.context(await theWorld().chromium));
  /** What is opened from now on is in a context of its own; pages that are open keep what they have. */
  clearStorageData(): Promise<void> {
    this.#context = undefined;
    return Promise.resolve();
  }

  #isGranted(permission: string): boolean {
    let granted = this.#request === null;
    this.#request?.(null, permission, (answer) => {
      granted = answer;
    });
    return granted && (this.#check === null || this.#check(null, permission));
  }

  /** The context in Chromium; made when the first page needs it, by when the handlers are set. */
  context(chromium: Chromium): Promise<string | undefined> {
    this.#context ??= (async () => {
      const { browserContextId } = await chromium.send('Target.createBrowserContext');
      for (const [permission, name] of Object.entries(permissions)) {
        const setting = this.#isGranted(permission) ? 'granted' : 'denied';
        await chromium.send('Browser.setPermission', { permission: { name }, setting, browserContextId });
      }
      await chromium.send('Browser.setDownloadBehavior', {
        behavior: 'default',
        browserContextId,
        eventsEnabled: true,
      });
      return browserContextId as string;
    })();
    return this.#context;
  }
}

const sessions = new Map<string, Session>();

export const sessionOf = (partition: string): Session => {
  const { app } = theWorld();
  if (!app.isReady()) throw new TypeError('Session can only be received when app is ready');
  const known = sessions.get(partition);
  if (known !== undefined) return known;
  const session = new Session(partition);
  sessions.set(partition, session);
  app.emit('session-created', session);
  return session;
};
