/** Windows: each a page of Chromium, with the events that Electron would have for what happens to it. */
import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Chromium, Parameters } from './chromium.ts';
import { binding, pageSide } from './page-side.ts';
import { Session } from './session.ts';

interface Bounds {
  x: number;
  y: number;
  width: number;
  height: number;
}
interface WindowOptions extends Partial<Bounds> {
  show?: boolean;
  webPreferences?: { preload?: string; partition?: string };
  [option: string]: unknown;
}
type OpenHandler = (details: { url: string }) => { action: 'allow' | 'deny' };

/** What the double's parts share. */
interface World {
  chromium: Promise<Chromium>;
  app: EventEmitter;
  ipcMain: Ipc;
}

/** `ipcMain`, and each page's own. */
export class Ipc extends EventEmitter {
  readonly handlers = new Map<string, (event: unknown, ...args: unknown[]) => unknown>();
  handle(channel: string, handler: (event: unknown, ...args: unknown[]) => unknown): void {
    this.handlers.set(channel, handler);
  }
}

const sessions = new Map<string, Session>();
/** @param announce told of a session that was not there before */
export const sessionOf = (partition: string, announce: (session: Session) => void): Session => {
  const known = sessions.get(partition);
  if (known !== undefined) return known;
  const session = new Session(partition);
  sessions.set(partition, session);
  announce(session);
  return session;
};

const createEvent = (more: object = {}) => {
  const event = {
    ...more,
    defaultPrevented: false,
    preventDefault: (): void => {
      event.defaultPrevented = true;
    },
  };
  return event;
};

let lastId = 0;
const windows = new Set<BrowserWindow>();
let world: World;
export const setWorld = (given: World): void => {
  world = given;
};

const ERR_FAILED = -2;

class WebContents extends EventEmitter {
  readonly id: number;
  readonly ipc = new Ipc();
  readonly session: Session;
  readonly mainFrame: { url: string } = { url: '' };
  isMuted = false;
  /** The page in Chromium; everything that is done to it waits for it. */
  readonly attached: Promise<{ targetId: string; send(method: string, parameters?: Parameters): Promise<Parameters> }>;
  #openHandler: OpenHandler = () => ({ action: 'allow' });
  #asked: string | null = null;

  constructor(options: WindowOptions) {
    super();
    lastId += 1;
    this.id = lastId;
    const { partition = '', preload } = options.webPreferences ?? {};
    this.session = sessionOf(partition, (session) => world.app.emit('session-created', session));
    this.attached = this.#attach(options, preload === undefined ? '' : readFileSync(preload, 'utf8'));
    this.attached.catch((error: unknown) => console.error('the double could not open a page:', error));
  }

  async #attach({ width = 1280, height = 720 }: WindowOptions, preload: string) {
    const chromium = await world.chromium;
    const browserContextId = await this.session.context(chromium);
    const { targetId } = await chromium.send('Target.createTarget', { url: 'about:blank', browserContextId });
    const { sessionId } = await chromium.send('Target.attachToTarget', { targetId, flatten: true });
    const send = (method: string, parameters?: Parameters) => chromium.send(method, parameters, sessionId as string);
    chromium.events.on(sessionId as string, (method: string, parameters) => {
      this.#hear(method, parameters, targetId as string, send);
    });
    chromium.events.on('browser', (method: string, { targetInfo, guid, url, frameId }: Record<string, never>) => {
      const { openerId, targetId: opened, url: to } = (targetInfo ?? {}) as Record<string, string>;
      if (method === 'Target.targetCreated' && openerId === targetId && opened !== undefined) {
        if (this.#openHandler({ url: to ?? '' }).action === 'deny') {
          void chromium.send('Target.closeTarget', { targetId: opened });
        }
      } else if (method === 'Browser.downloadWillBegin' && frameId === targetId) {
        const event = createEvent();
        this.session.emit('will-download', event, { getURL: () => url }, this);
        if (event.defaultPrevented) {
          void chromium.send('Browser.cancelDownload', { guid, browserContextId });
        }
      }
    });
    await Promise.all([
      send('Page.enable'),
      send('Runtime.enable'),
      send('Inspector.enable'),
      send('Page.setLifecycleEventsEnabled', { enabled: true }),
      send('Runtime.addBinding', { name: binding }),
      send('Page.addScriptToEvaluateOnNewDocument', {
        source: pageSide(preload, this.#openHandler({ url: 'about:blank' }).action === 'allow'),
      }),
      send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false }),
      send('Fetch.enable', { patterns: [{ resourceType: 'Document', requestStage: 'Request' }] }),
    ]);
    return { targetId: targetId as string, send };
  }

  #hear(
    method: string,
    parameters: Record<string, never>,
    targetId: string,
    send: (method: string, parameters?: Parameters) => Promise<Parameters>,
  ): void {
    const { frame, name, payload, requestId, request, frameId, redirectedRequestId } = parameters;
    switch (method) {
      case 'Page.frameNavigated': {
        const { id, url, unreachableUrl } = frame as unknown as Record<string, string>;
        if (id !== targetId) return;
        this.mainFrame.url = url ?? '';
        if (unreachableUrl === undefined) this.emit('did-navigate', createEvent(), url, 200, '');
        else this.emit('did-fail-load', createEvent(), ERR_FAILED, 'ERR_FAILED', unreachableUrl, true);
        return;
      }
      case 'Page.domContentEventFired':
        return void this.emit('dom-ready', createEvent());
      case 'Page.loadEventFired':
        return void this.emit('did-finish-load', createEvent());
      case 'Page.lifecycleEvent':
        if (name === 'firstPaint' && frameId === targetId && this.mainFrame.url !== 'about:blank')
          this.emit('first-paint');
        return;
      case 'Inspector.targetCrashed':
        return void this.emit('render-process-gone', createEvent(), { reason: 'crashed', exitCode: 139 });
      case 'Runtime.bindingCalled':
        if (name === binding) void this.#told(JSON.parse(payload as unknown as string));
        return;
      case 'Fetch.requestPaused': {
        const { url } = request as unknown as { url: string };
        const isMainFrame = (frameId as unknown as string) === targetId;
        const isAsked = isMainFrame && url === this.#asked;
        if (isAsked) this.#asked = null;
        const event = createEvent({ url, isMainFrame, isSameDocument: false });
        if (redirectedRequestId !== undefined) this.emit('will-redirect', event);
        else if (!isAsked) {
          this.emit('will-frame-navigate', event);
          if (isMainFrame) this.emit('will-navigate', event);
        }
        const [answer, reason] = event.defaultPrevented
          ? ['Fetch.failRequest', { errorReason: 'Aborted' }]
          : ['Fetch.continueRequest', {}];
        send(answer, { requestId, ...reason }).catch(() => {});
        return;
      }
    }
  }

  async #told({ channel, args, call, input }: { channel: string; args: unknown[]; call?: number; input?: object }) {
    if (input !== undefined) return void this.emit('before-input-event', createEvent(), input);
    const event = { sender: this, senderFrame: this.mainFrame };
    if (call === undefined) {
      this.ipc.emit(channel, event, ...args);
      world.ipcMain.emit(channel, event, ...args);
      return;
    }
    const handler = this.ipc.handlers.get(channel) ?? world.ipcMain.handlers.get(channel);
    const answer = await Promise.resolve()
      .then(() => {
        if (handler === undefined) throw new Error(`No handler registered for '${channel}'`);
        return handler(event, ...args);
      })
      .then(
        (result) => ({ reply: call, result }),
        (error: Error) => ({ reply: call, error: `Error invoking remote method '${channel}': ${error}` }),
      );
    await this.#tell(answer);
  }

  async #tell(message: object): Promise<void> {
    await this.executeJavaScript(`globalThis.__electronHears(${JSON.stringify(message)})`).catch(() => {});
  }

  async load(url: string): Promise<void> {
    const { send } = await this.attached;
    this.#asked = url;
    const { errorText } = await send('Page.navigate', { url });
    if (errorText !== undefined) throw new Error(`${errorText} loading '${url}'`);
  }

  async executeJavaScript(expression: string): Promise<unknown> {
    const { send } = await this.attached;
    const { result } = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    return (result as { value: unknown }).value;
  }

  async insertCSS(css: string): Promise<string> {
    lastId += 1;
    await this.executeJavaScript(`{
      const sheet = Object.assign(new CSSStyleSheet(), { key: '${lastId}' });
      sheet.replaceSync(${JSON.stringify(css)});
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    }`);
    return String(lastId);
  }
  async removeInsertedCSS(key: string): Promise<void> {
    await this.executeJavaScript(
      `document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet.key !== '${key}')`,
    );
  }

  setWindowOpenHandler(handler: OpenHandler): void {
    this.#openHandler = handler;
  }
  loadURL(url: string): Promise<void> {
    return this.load(url);
  }
  setAudioMuted(muted: boolean): void {
    this.isMuted = muted;
  }
  close(): void {
    void this.attached
      .then(async ({ targetId }) => (await world.chromium).send('Target.closeTarget', { targetId }))
      .catch(() => {});
    this.emit('destroyed');
  }
  getURL(): string {
    return this.mainFrame.url;
  }
  /** Not the real one, which Chromium doesn't tell; the same that `getAppMetrics` has. */
  getOSProcessId(): number {
    return 100_000 + this.id;
  }
  /** Really crashes it. */
  forcefullyCrashRenderer(): void {
    void this.attached.then(({ send }) => send('Page.crash')).catch(() => {});
  }
}

export class WebContentsView {
  readonly webContents: WebContents;
  bounds: Bounds = { x: 0, y: 0, width: 0, height: 0 };
  constructor(options: WindowOptions = {}) {
    this.webContents = new WebContents(options);
    world.app.emit('web-contents-created', createEvent(), this.webContents);
  }
  setBounds(bounds: Bounds): void {
    this.bounds = bounds;
  }
}

export class BrowserWindow extends EventEmitter {
  readonly id: number;
  readonly webContents: WebContents;
  readonly contentView = {
    children: [] as WebContentsView[],
    addChildView: (view: WebContentsView): void => void this.contentView.children.push(view),
    removeChildView: (view: WebContentsView): void => {
      this.contentView.children = this.contentView.children.filter((each) => each !== view);
    },
  };
  /** As it was asked for. */
  readonly options: WindowOptions;
  #isVisible: boolean;
  #isDestroyed = false;
  #bounds: Bounds;

  constructor(options: WindowOptions = {}) {
    super();
    this.options = options;
    this.#isVisible = options.show ?? true;
    const { x = 0, y = 0, width = 800, height = 600 } = options;
    this.#bounds = { x, y, width, height };
    this.webContents = new WebContents(options);
    this.id = this.webContents.id;
    windows.add(this);
    this.webContents.on('first-paint', () => this.emit('ready-to-show'));
    world.app.emit('web-contents-created', createEvent(), this.webContents);
    world.app.emit('browser-window-created', createEvent(), this);
  }

  static getAllWindows(): BrowserWindow[] {
    return [...windows];
  }

  loadURL(url: string): Promise<void> {
    return this.webContents.load(url);
  }
  loadFile(path: string, { query = {} }: { query?: Record<string, string> } = {}): Promise<void> {
    const url = pathToFileURL(path);
    url.search = String(new URLSearchParams(query));
    return this.webContents.load(url.href);
  }
  show(): void {
    this.#isVisible = true;
    this.emit('show');
  }
  focus(): void {
    this.emit('focus');
  }
  getContentBounds(): Bounds {
    return this.#bounds;
  }
  isVisible(): boolean {
    return this.#isVisible;
  }
  isDestroyed(): boolean {
    return this.#isDestroyed;
  }
  setBounds(bounds: Partial<Bounds>): void {
    this.#bounds = { ...this.#bounds, ...bounds };
    this.emit('resize');
    const { width, height } = this.#bounds;
    void this.webContents.attached
      .then(({ send }) =>
        send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false }),
      )
      .catch(() => {});
  }
  close(): void {
    const event = createEvent();
    this.emit('close', event);
    if (!event.defaultPrevented) this.destroy();
  }
  destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    windows.delete(this);
    this.webContents.close();
    this.emit('closed');
    if (windows.size === 0 && !world.app.emit('window-all-closed')) (world.app as unknown as { quit(): void }).quit();
  }
}
