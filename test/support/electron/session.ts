/** Sessions: a browser context of Chromium each, with the permissions that the handlers give. */
import { EventEmitter } from 'node:events';
import type { Chromium } from './chromium.ts';

type RequestHandler = (contents: null, permission: string, answer: (granted: boolean) => void) => void;
type CheckHandler = (contents: null, permission: string) => boolean;

/** Of Chromium's permissions, by what Electron calls them. */
const permissions: Record<string, string> = {
  geolocation: 'geolocation',
  notifications: 'notifications',
  midi: 'midi',
  media: 'camera',
  'clipboard-read': 'clipboard-read',
  'idle-detection': 'idle-detection',
};

/** As Electron's `Session`, as far as the kiosk uses it. Without handlers everything is granted, as there. */
export class Session extends EventEmitter {
  readonly partition: string;
  #request: RequestHandler | null = null;
  #check: CheckHandler | null = null;
  #context: Promise<string | undefined> | undefined;

  /** The schemes of the app's own that this session serves. */
  readonly handlers = new Map<string, (request: Request) => Promise<Response>>();
  readonly protocol = {
    handle: (scheme: string, handler: (request: Request) => Promise<Response>): void => {
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
  setDevicePermissionHandler(): void {}

  #isGranted(permission: string): boolean {
    let granted = this.#request === null;
    this.#request?.(null, permission, (answer) => {
      granted = answer;
    });
    return granted && (this.#check === null || this.#check(null, permission));
  }

  /** The context in Chromium; made when the first window wants it, by when the handlers are set. */
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
