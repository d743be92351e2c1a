/** Windows: each a page of Chromium, with the events that Electron would have for what happens to it. */
import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
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
const windows = new Set<BaseWindow>();
const allContents = new Set<WebContents>();
let world: World;
export const setWorld = (given: World): void => {
  world = given;
};

const ERR_FAILED = -2;

/** Chromium knows no schemes of an app: `kiosk://pages` is this origin there, whose requests never leave the browser. */
const standIn = 'https://pages.kiosk.invalid';
const toChromium = (url: string): string => url.replace(/^kiosk:\/\/pages(?=\/)/, standIn);
const fromChromium = (url: string): string =>
  url.startsWith(`${standIn}/`) ? url.replace(standIn, 'kiosk://pages') : url;

export class WebContents extends EventEmitter {
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
    allContents.add(this);
    world.app.emit('web-contents-created', createEvent(), this);
  }

  static getAllWebContents(): WebContents[] {
    return [...allContents];
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
      send('Fetch.enable', {
        patterns: [{ resourceType: 'Document', requestStage: 'Request' }, { urlPattern: `${standIn}/*` }],
      }),
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
        this.mainFrame.url = fromChromium(url ?? '');
        if (unreachableUrl === undefined) this.emit('did-navigate', createEvent(), url, 200, '');
        else this.emit('did-fail-load', createEvent(), ERR_FAILED, 'ERR_FAILED', unreachableUrl, true);
        return;
      }
      case 'Page.domContentEventFired':
        return void this.emit('dom-ready', createEvent());
      case 'Page.loadEventFired':
        return void this.emit('did-finish-load', createEvent());
      case 'Inspector.targetCrashed':
        return void this.emit('render-process-gone', createEvent(), { reason: 'crashed', exitCode: 139 });
      case 'Runtime.bindingCalled':
        if (name === binding) void this.#told(JSON.parse(payload as unknown as string));
        return;
      case 'Fetch.requestPaused': {
        const url = fromChromium((request as unknown as { url: string }).url);
        const isMainFrame = (frameId as unknown as string) === targetId;
        const isAsked = isMainFrame && url === this.#asked;
        if (isAsked) this.#asked = null;
        const event = createEvent({ url, isMainFrame, isSameDocument: false });
        if (redirectedRequestId !== undefined) this.emit('will-redirect', event);
        else if (!isAsked) {
          this.emit('will-frame-navigate', event);
          if (isMainFrame) this.emit('will-navigate', event);
        }
        void this.#answer(event.defaultPrevented, url)
          .then(([answer, more]) => send(answer, { requestId, ...more }))
          .catch(() => {});
        return;
      }
    }
  }

  /** What becomes of a request, as a command of the protocol. */
  async #answer(isPrevented: boolean, url: string): Promise<[string, Parameters]> {
    if (isPrevented) return ['Fetch.failRequest', { errorReason: 'Aborted' }];
    if (!url.startsWith('kiosk:')) return ['Fetch.continueRequest', {}];
    const response = await this.session.handlers.get('kiosk')?.(new Request(url));
    if (response === undefined) return ['Fetch.failRequest', { errorReason: 'Failed' }];
    const body = Buffer.from(await response.arrayBuffer()).toString('base64');
    const responseHeaders = [...response.headers].map(([name, value]) => ({ name, value }));
    return ['Fetch.fulfillRequest', { responseCode: response.status, responseHeaders, body }];
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
    const { errorText } = await send('Page.navigate', { url: toChromium(url) });
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
    if (this.isDestroyed()) throw new TypeError('Object has been destroyed');
    allContents.delete(this);
    void this.attached
      .then(async ({ targetId }) => (await world.chromium).send('Target.closeTarget', { targetId }))
      .catch(() => {});
    this.emit('destroyed');
  }
  isDestroyed(): boolean {
    return !allContents.has(this);
  }
  focus(): void {
    focused = this;
  }
  isFocused(): boolean {
    return focused === this;
  }
  resize({ width, height }: Bounds): void {
    void this.attached
      .then(({ send }) =>
        send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false }),
      )
      .catch(() => {});
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

let focused: WebContents | null = null;

export class View {
  #children: View[] = [];
  bounds: Bounds = { x: 0, y: 0, width: 0, height: 0 };
  backgroundColor: string | null = null;

  get children(): View[] {
    return [...this.#children];
  }
  addChildView(view: View, index?: number): void {
    if (view instanceof WebContentsView && view.webContents === undefined) {
      throw new Error("Can't add a destroyed child view to a parent view");
    }
    this.#children = this.#children.filter((each) => each !== view);
    this.#children.splice(index ?? this.#children.length, 0, view);
  }
  removeChildView(view: View): void {
    this.#children = this.#children.filter((each) => each !== view);
  }
  setBounds(bounds: Bounds): void {
    this.bounds = bounds;
  }
  getBounds(): Bounds {
    return this.bounds;
  }
  setBackgroundColor(color: string): void {
    this.backgroundColor = color;
  }
}

export class WebContentsView extends View {
  /** As it was asked for. */
  readonly options: WindowOptions;
  readonly #contents: WebContents;

  constructor(options: WindowOptions = {}) {
    super();
    this.options = options;
    this.#contents = new WebContents(options);
  }
  /** Undefined once they are destroyed. */
  get webContents(): WebContents | undefined {
    return this.#contents.isDestroyed() ? undefined : this.#contents;
  }
  override setBounds(bounds: Bounds): void {
    super.setBounds(bounds);
    this.#contents.resize(bounds);
  }
}

/** A window that is fullscreen or a kiosk is visible from the beginning on Linux, whatever `show` says. */
export class BaseWindow extends EventEmitter {
  readonly contentView = new View();
  /** As it was asked for. */
  readonly options: WindowOptions;
  #isDestroyed = false;
  #bounds: Bounds;

  constructor(options: WindowOptions = {}) {
    super();
    this.options = options;
    const { x = 0, y = 0, width = 800, height = 600 } = options;
    this.#bounds = { x, y, width, height };
    windows.add(this);
  }

  static getAllWindows(): BaseWindow[] {
    return [...windows];
  }

  focus(): void {
    this.#check();
  }
  getContentBounds(): Bounds {
    this.#check();
    return this.#bounds;
  }
  isDestroyed(): boolean {
    return this.#isDestroyed;
  }
  setBounds(bounds: Partial<Bounds>): void {
    this.#check();
    this.#bounds = { ...this.#bounds, ...bounds };
    // By the window system, later.
    setImmediate(() => this.emit('resize'));
  }
  close(): void {
    const event = createEvent();
    this.emit('close', event);
    if (!event.defaultPrevented) this.destroy();
  }
  /** The web contents of its views stay, as with Electron. */
  destroy(): void {
    this.#check();
    this.#isDestroyed = true;
    windows.delete(this);
    this.emit('closed');
    if (windows.size === 0 && !world.app.emit('window-all-closed')) (world.app as unknown as { quit(): void }).quit();
  }
  #check(): void {
    if (this.#isDestroyed) throw new TypeError('Object has been destroyed');
  }
}
