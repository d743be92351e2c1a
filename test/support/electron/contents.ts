/** Web contents: each a page of Chromium, with Electron's events, in Electron's order. */
import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Chromium, Parameters } from './chromium.ts';
import { decode, encode } from './clone.ts';
import { createEvent, Ipc } from './emitter.ts';
import { NativeImage } from './image.ts';
import { isMouse, type KeyInput, keyOf, type MouseInput, mouseOf } from './keys.ts';
import { awaitLoad } from './load.ts';
import { type NetError, netError } from './net-errors.ts';
import { callback, pageBinding, pageSide, preloadBinding, preloadWorld } from './page-side.ts';
import { findProcess } from './process.ts';
import { hasRealWindows } from './real-window.ts';
import { privileges, type Session, sessionOf } from './session.ts';
import { secret, theWorld } from './world.ts';

export interface ContentsOptions {
  webPreferences?: { preload?: string; partition?: string; focusOnNavigation?: boolean };
  [option: string]: unknown;
}

type OpenHandler = (details: { url: string }) => { action: 'allow' | 'deny' };
type Send = (method: string, parameters?: Parameters) => Promise<Parameters>;

/** An unanswered key makes a page unresponsive after this time; Chromium's is the same. */
const HANG_MS = Number(process.env['DOUBLE_HANG_MS'] ?? 15_000);

/** How often the picture of a view is taken for a real window while it changes, and at least. */
const PICTURE_MS = 50;
const PICTURE_MOST_MS = 200;
/** A page that hangs or has crashed gives none; on a slow machine one takes seconds. */
const PICTURE_PATIENCE_MS = 15_000;

/** Chromium knows no schemes of an app: `kiosk://pages` is this origin there, whose requests never leave the browser. */
const standIn = 'https://pages.kiosk.invalid';
const toChromium = (url: string): string => url.replace(/^kiosk:\/\/pages(?=\/)/, standIn);
const fromChromium = (url: string): string =>
  url.startsWith(`${standIn}/`) ? url.replace(standIn, 'kiosk://pages') : url;

const allContents = new Map<number, WebContents>();
let lastId = 0;
let focused: WebContents | null = null;
/** Where the keyboard goes is up to the window system: called when the window that has it changes. */
export const blurContents = (): void => {
  focused = null;
};

/** One of a page's frames; its main frame is another after each navigation. */
interface Frame {
  url: string;
  readonly frameToken: string;
  /** Of its document; absent where nothing asks. */
  readonly origin?: string;
  /** Of the main frame alone. */
  executeJavaScript?(expression: string): Promise<unknown>;
}

interface FrameOfTree {
  url: string;
  origin: string;
  parent: FrameOfTree | null;
}

export class WebContents extends EventEmitter {
  readonly id: number;
  readonly ipc = new Ipc();
  readonly session: Session;
  isMuted = false;
  /** Whether its process has crashed, so that it has no picture. */
  isCrashed = false;
  /** The number of documents that were committed. */
  commits = 0;
  /** What a real window shows of it, and the number of it; null: nothing is painted. */
  picture: { png: string; number: number } | null = null;
  /** Called when that has changed. */
  onPicture: () => void = () => {};
  /** Activates the window that it is in; returns whether that has the keyboard then. */
  activateWindow: () => boolean = () => false;
  /** Whether the window that it is in has the keyboard. */
  isInActiveWindow: () => boolean = () => false;
  readonly #focusesOnNavigation: boolean;
  #isTakingPictures = false;
  /** Until the next one: short while something is done to the page. */
  #pictureMs = PICTURE_MS;
  /** The page in Chromium; everything that is done to it waits for it. */
  readonly attached: Promise<{ targetId: string; send: Send }>;
  /** 0 until it is known, and without a process. */
  #processId = 0;
  #mainFrame: Frame = { url: '', frameToken: '' };
  #openHandler: OpenHandler = () => ({ action: 'allow' });
  /** The URL of `loadURL` whose request has not been seen yet: it is no navigation of the page's own. */
  #requested: string | null = null;
  #isLoading = false;
  /** Of the document: its first one with content, which it has only once it is painted. */
  #layout: 'none' | 'due' | 'done' = 'none';
  /** Whether anything was loaded; events of the empty document before that are Chromium's own. */
  #hasNavigated = false;
  #isPainted = false;
  /** The contexts of the main frame, by their world. */
  #contexts = new Map<string, number>();
  #frames = new Map<number, Frame>();
  /** By Chromium's id of a frame. */
  #frameTree = new Map<string, { url: string; parentId: string | null }>();
  /** What a listener added to a request, by its id: it goes along where that is redirected. */
  #added = new Map<string, Record<string, string>>();
  #lastError: NetError = netError('net::ERR_FAILED');
  /** What the newest document of the main frame was answered with, by its loader. */
  #answered = { loaderId: '', status: -1, statusText: '' };
  /** The addresses of scripts that ask for a document, by Chromium's id of the request. */
  #askers = new Map<string, string>();

  constructor({ webPreferences = {} }: ContentsOptions) {
    super();
    lastId += 1;
    this.id = lastId;
    const { partition = '', preload, focusOnNavigation = true } = webPreferences;
    this.#focusesOnNavigation = focusOnNavigation;
    const { app } = theWorld();
    this.session = sessionOf(partition);
    this.attached = this.#attach(preload === undefined ? '' : readFileSync(preload, 'utf8'));
    this.attached.catch((error: unknown) => console.error('the mock could not open a page:', error));
    allContents.set(this.id, this);
    app.emit('web-contents-created', createEvent({ sender: this }), this);
  }

  static getAllWebContents(): WebContents[] {
    return [...allContents.values()];
  }
  static getFocusedWebContents(): WebContents | null {
    return focused;
  }
  static fromId(id: number): WebContents | undefined {
    return allContents.get(id);
  }

  get mainFrame(): Frame {
    this.#check();
    return this.#mainFrame;
  }

  async #attach(preload: string): Promise<{ targetId: string; send: Send }> {
    const chromium = await theWorld().chromium;
    const browserContextId = await this.session.context(chromium);
    const { targetId } = await chromium.send('Target.createTarget', { url: 'about:blank', browserContextId });
    const { sessionId } = await chromium.send('Target.attachToTarget', { targetId, flatten: true });
    const send: Send = (method, parameters) => chromium.send(method, parameters, sessionId as string);
    chromium.events.on(sessionId as string, (method: string, parameters) => {
      this.#receive(method, parameters, targetId as string, send);
      if (method === 'Page.frameNavigated') void this.#learnProcess(chromium, String(sessionId), String(targetId));
    });
    chromium.events.on('browser', (method: string, parameters: Record<string, never>) =>
      this.#receiveOfBrowser(method, parameters, targetId as string),
    );
    const scripts = pageSide({ preload, opens: this.#openHandler({ url: 'about:blank' }).action === 'allow', secret });
    await Promise.all([
      send('Page.enable'),
      send('Page.setLifecycleEventsEnabled', { enabled: true }),
      send('Runtime.enable'),
      send('Inspector.enable'),
      send('Network.enable'),
      send('Security.enable'),
      this.session.beforeSendHeaders === null ? null : this.#watchWorkers(chromium, String(sessionId), send),
      send('Security.setOverrideCertificateErrors', { override: true }),
      send('Runtime.addBinding', { name: pageBinding }),
      send('Runtime.addBinding', { name: preloadBinding, executionContextName: preloadWorld }),
      send('Page.addScriptToEvaluateOnNewDocument', { source: scripts.page }),
      send('Page.addScriptToEvaluateOnNewDocument', { source: scripts.isolated, worldName: preloadWorld }),
      // Without a window it has no size.
      send('Emulation.setDeviceMetricsOverride', { width: 1, height: 1, deviceScaleFactor: 1, mobile: false }),
      send('Fetch.enable', {
        handleAuthRequests: true,
        // Everything else costs the tests time where nobody asks for it.
        patterns:
          this.session.beforeSendHeaders === null
            ? [{ resourceType: 'Document', requestStage: 'Request' }, { urlPattern: `${standIn}/*` }]
            : [{ requestStage: 'Request' }],
      }),
    ]);
    return { targetId: targetId as string, send };
  }

  /** The script of a service worker is asked for by a target of its own, which waits until it is watched. */
  async #watchWorkers(chromium: Chromium, sessionId: string, send: Send): Promise<void> {
    chromium.events.on(sessionId, (method: string, parameters: Record<string, never>) => {
      if (method !== 'Target.attachedToTarget') return;
      const worker = String(parameters['sessionId']);
      const sendTo: Send = (wanted, more) => chromium.send(wanted, more, worker);
      chromium.events.on(worker, (what: string, request: Record<string, never>) => {
        if (what === 'Fetch.requestPaused') void this.#judgeRequest(request, '', sendTo).catch(() => {});
      });
      const watched = sendTo('Fetch.enable', { patterns: [{ requestStage: 'Request' }] });
      void watched.then(() => sendTo('Runtime.runIfWaitingForDebugger')).catch(() => {});
    });
    const filter = [{ type: 'service_worker', exclude: false }, { exclude: true }];
    await send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true, filter });
  }

  /** Pages of another site are in another process. */
  async #learnProcess(chromium: Chromium, sessionId: string, targetId: string): Promise<void> {
    const { commits } = this;
    const processId = await findProcess(chromium, sessionId, targetId);
    if (commits === this.commits) this.#processId = processId;
  }

  async #receiveOfBrowser(
    method: string,
    { targetInfo, guid, url, frameId }: Record<string, never>,
    targetId: string,
  ): Promise<void> {
    const { openerId, targetId: opened, url: to } = (targetInfo ?? {}) as Record<string, string>;
    const chromium = await theWorld().chromium;
    if (method === 'Target.targetCreated' && openerId === targetId && opened !== undefined) {
      if (this.#openHandler({ url: to ?? '' }).action === 'deny') {
        void chromium.send('Target.closeTarget', { targetId: opened });
      }
    } else if (method === 'Browser.downloadWillBegin' && frameId === targetId) {
      const event = createEvent();
      this.session.emit('will-download', event, { getURL: () => url }, this);
      const browserContextId = await this.session.context(chromium);
      if (event.defaultPrevented) void chromium.send('Browser.cancelDownload', { guid, browserContextId });
    }
  }

  #receive(method: string, parameters: Record<string, never>, targetId: string, send: Send): void {
    if (this.isDestroyed() || (!this.#hasNavigated && method.startsWith('Page.'))) return;
    const { frameId, frame, context } = parameters as unknown as {
      frameId?: string;
      frame?: { id: string; parentId?: string; url: string; unreachableUrl?: string; loaderId: string };
      context?: { id: number; name: string; auxData: { frameId: string; isDefault: boolean } };
    };
    const isMainFrame = frameId === targetId;
    if (method === 'Page.frameAttached') {
      this.#frameTree.set(frameId ?? '', { url: '', parentId: String(parameters['parentFrameId']) });
    } else if (method === 'Page.frameNavigated' && frame !== undefined) {
      this.#frameTree.set(frame.id, { url: frame.url, parentId: frame.parentId ?? null });
    }
    switch (method) {
      case 'Page.frameStartedNavigating': {
        const { url, navigationType } = parameters as unknown as { url: string; navigationType: string };
        const isSameDocument = navigationType === 'sameDocument';
        const details = { url: fromChromium(url), isSameDocument, isMainFrame };
        this.emit('did-start-navigation', createEvent(details), details.url, isSameDocument, isMainFrame);
        return;
      }
      case 'Page.navigatedWithinDocument': {
        const { url } = parameters as unknown as { url: string };
        if (isMainFrame) this.#mainFrame.url = fromChromium(url);
        this.emit('did-navigate-in-page', createEvent(), fromChromium(url), isMainFrame, 1, 1);
        return;
      }
      case 'Page.frameStartedLoading':
        if (!isMainFrame) return;
        this.#isLoading = true;
        this.emit('did-start-loading', createEvent());
        return;
      case 'Page.frameStoppedLoading':
        if (!isMainFrame) return;
        this.#isLoading = false;
        this.emit('did-stop-loading', createEvent());
        return;
      case 'Page.frameNavigated': {
        if (frame?.id !== targetId) return;
        // Covered or not (electron_api_web_contents.cc, ReadyToCommitNavigation).
        if (this.#focusesOnNavigation && this.isInActiveWindow()) focused = this;
        this.#contexts.clear();
        this.#frames.clear();
        this.commits += 1;
        this.#pictureMs = PICTURE_MS;
        this.#processId = 0;
        this.isCrashed = false;
        const url = fromChromium(frame.unreachableUrl ?? frame.url);
        const executeJavaScript = (expression: string) => this.#evaluate(expression);
        const origin = /^https?:/.test(url) ? new URL(url).origin : 'null';
        this.#mainFrame = { url, frameToken: frame.loaderId, origin, executeJavaScript };
        this.#layout = 'none';
        if (frame.unreachableUrl === undefined) {
          // Without HTTP there is none.
          const isAnswered = /^(https?|kiosk):/.test(url) && this.#answered.loaderId === frame.loaderId;
          const { status, statusText } = isAnswered ? this.#answered : { status: -1, statusText: '' };
          this.emit('did-navigate', createEvent(), url, status, statusText);
        } else {
          const { code, description } = this.#lastError;
          this.emit('did-fail-provisional-load', createEvent(), code, description, url, true, 1, 1);
          // Those of cancelled requests come otherwise, without a description.
          if (description !== 'ERR_ABORTED')
            this.emit('did-fail-load', createEvent(), code, description, url, true, 1, 1);
        }
        return;
      }
      case 'Runtime.executionContextCreated': {
        if (context === undefined) return;
        const isOfMainFrame = context.auxData.frameId === targetId;
        if (isOfMainFrame) this.#contexts.set(context.auxData.isDefault ? '' : context.name, context.id);
        this.#frames.set(
          context.id,
          isOfMainFrame ? this.#mainFrame : { url: '', frameToken: `${context.auxData.frameId}:${context.id}` },
        );
        return;
      }
      case 'Runtime.executionContextsCleared':
        this.#frames.clear();
        this.#contexts.clear();
        return;
      case 'Network.responseReceived': {
        const { type, loaderId, response } = parameters as unknown as {
          type: string;
          loaderId: string;
          response: { status: number; statusText: string };
        };
        if (type === 'Document' && isMainFrame)
          this.#answered = { loaderId, status: response.status, statusText: response.statusText };
        return;
      }
      case 'Network.requestWillBeSent': {
        const { type, requestId, initiator } = parameters as unknown as {
          type: string;
          requestId: string;
          initiator: { stack?: { callFrames: { url: string }[] } };
        };
        const script = initiator.stack?.callFrames.find(({ url }) => url !== '')?.url ?? '';
        if (type === 'Document') this.#askers.set(requestId, script);
        return;
      }
      case 'Network.loadingFailed': {
        const { type, errorText } = parameters as unknown as { type: string; errorText: string };
        if (type === 'Document') this.#lastError = netError(errorText);
        return;
      }
      case 'Page.domContentEventFired':
        this.emit('dom-ready', createEvent());
        this.#noteLayout();
        return;
      case 'Page.lifecycleEvent':
        if (isMainFrame && String(parameters['name']) === 'firstContentfulPaint') this.#noteLayout();
        return;
      case 'Page.loadEventFired':
        // After the page of an error, too.
        this.emit('did-finish-load', createEvent());
        return;
      case 'Inspector.targetCrashed':
        this.isCrashed = true;
        // With its process goes what had the keyboard.
        if (focused === this) focused = null;
        this.picture = null;
        this.onPicture();
        setImmediate(() => {
          if (!this.isDestroyed())
            this.emit('render-process-gone', createEvent(), { reason: 'crashed', exitCode: 139 });
        });
        return;
      case 'Page.javascriptDialogOpening': {
        if (String(parameters['type']) !== 'beforeunload') return;
        // Unless the app prevents that, the page stays (electron_javascript_dialog_manager.cc, RunBeforeUnloadDialog).
        const event = createEvent();
        this.emit('will-prevent-unload', event);
        void send('Page.handleJavaScriptDialog', { accept: event.defaultPrevented }).catch(() => {});
        return;
      }
      case 'Security.certificateError':
        return void this.#judgeCertificate(parameters, send);
      case 'Fetch.authRequired':
        return void this.#authenticate(parameters, send);
      case 'Fetch.requestPaused':
        return void this.#judgeRequest(parameters, targetId, send).catch(() => {});
      case 'Runtime.bindingCalled': {
        const { name, payload, executionContextId } = parameters as unknown as Record<string, string>;
        if (name === pageBinding) this.#sendPainted();
        else if (name === preloadBinding) {
          void this.#receiveMessage(JSON.parse(payload ?? ''), this.#frames.get(Number(executionContextId)) ?? null);
        }
        return;
      }
    }
  }

  async #judgeCertificate(parameters: Record<string, unknown>, send: Send): Promise<void> {
    const { eventId, errorType, requestURL } = parameters;
    let isTrusted = false;
    const event = createEvent();
    const error = String(errorType).toUpperCase().replaceAll('-', '_');
    theWorld().app.emit('certificate-error', event, this, requestURL, error, {}, (trusted: boolean) => {
      isTrusted = trusted;
    });
    const action = event.defaultPrevented && isTrusted ? 'continue' : 'cancel';
    await send('Security.handleCertificateError', { eventId, action }).catch(() => {});
  }

  async #authenticate(parameters: object, send: Send): Promise<void> {
    const { requestId, authChallenge, request } = parameters as {
      requestId: string;
      authChallenge: Record<'scheme' | 'realm' | 'source', string>;
      request: { url: string };
    };
    const { url } = request;
    const { scheme, realm, source } = authChallenge;
    const { hostname, port } = new URL(url);
    const event = createEvent();
    let credentials: string[] = [];
    const authInfo = { isProxy: source === 'Proxy', scheme, host: hostname, port: Number(port), realm };
    theWorld().app.emit('login', event, this, { url, pid: 0 }, authInfo, (...given: string[]) => {
      credentials = given;
    });
    const [username, password] = event.defaultPrevented ? credentials : [];
    const answer =
      username === undefined ? { response: 'CancelAuth' } : { response: 'ProvideCredentials', username, password };
    await send('Fetch.continueWithAuth', { requestId, authChallengeResponse: answer }).catch(() => {});
  }

  async #judgeRequest(parameters: Record<string, never>, targetId: string, send: Send): Promise<void> {
    const { requestId, request, resourceType, frameId, networkId, redirectedRequestId } = parameters as Record<
      string,
      unknown
    >;
    const url = fromChromium((request as { url: string }).url);
    const isMainFrame = frameId === targetId;
    // What follows its # is not sent.
    const isRequested = isMainFrame && url === this.#requested?.replace(/#.*/, '');
    if (isRequested) this.#requested = null;
    const initiator = this.#frameAt(this.#askers.get(String(networkId)) ?? '');
    this.#askers.delete(String(networkId));
    const event = createEvent({ url, isMainFrame, isSameDocument: false, initiator });
    if (resourceType !== 'Document') {
      // Navigations alone are told of.
    } else if (redirectedRequestId !== undefined) this.emit('will-redirect', event);
    else if (!isRequested && resourceType === 'Document') {
      this.emit('will-frame-navigate', event);
      if (isMainFrame) this.emit('will-navigate', event);
    }
    if (event.defaultPrevented) {
      await send('Fetch.failRequest', { requestId, errorReason: 'Aborted' });
      return;
    }
    const [answer, more] = await this.#answer(url, String(resourceType));
    const sent = answer === 'Fetch.continueRequest' ? this.#withHeaders(parameters, isMainFrame) : {};
    if (sent === null) await send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' });
    else await send(answer, { requestId, ...more, ...sent });
  }

  /**
   * Asks the listener of the session, for each hop of a redirect with the same id, and with what it added to the hop
   * before (shell/browser/net/proxying_url_loader_factory.cc: FollowRedirect merges into the headers of the request).
   * @returns null: it is cancelled
   */
  #withHeaders(parameters: Record<string, unknown>, isMainFrame: boolean): Parameters | null {
    const {
      request,
      resourceType,
      frameId,
      requestId,
      networkId = requestId,
    } = parameters as {
      request: { url: string; method: string; headers: Record<string, string> };
      resourceType: string;
      frameId: string;
      requestId: string;
      networkId?: string;
    };
    const listener = this.session.beforeSendHeaders;
    if (listener === null) return {};
    const id = Number.parseInt(createHash('sha256').update(networkId).digest('hex').slice(0, 12), 16);
    const carried = this.#added.get(networkId) ?? {};
    const requestHeaders = { ...request.headers, ...carried };
    let answered: Record<string, string> | null = requestHeaders;
    const type = resourceType === 'Document' ? (isMainFrame ? 'mainFrame' : 'subFrame') : resourceType.toLowerCase();
    const frame = this.#frameOf(frameId);
    const details = { id, url: request.url, method: request.method, resourceType: type, requestHeaders, frame };
    listener({ ...details, webContentsId: this.id, webContents: this }, (response) => {
      answered = response.cancel === true ? null : (response.requestHeaders ?? requestHeaders);
    });
    if (answered === null) return null;
    const added = Object.entries(answered).filter(([name]) => request.headers[name] === undefined);
    this.#added.set(networkId, Object.fromEntries(added));
    return { headers: Object.entries(answered).map(([name, value]) => ({ name, value })) };
  }

  /** A frame as `WebFrameMain` tells it: its origin is that of its document, which is that of no site in a new one. */
  #frameOf(frameId: string): FrameOfTree | null {
    const known = this.#frameTree.get(frameId);
    if (known === undefined) return null;
    const origin = /^https?:/.test(known.url) ? new URL(known.url).origin : 'null';
    return { url: known.url, origin, parent: known.parentId === null ? null : this.#frameOf(known.parentId) };
  }

  /** The frame that shows a document; null: none, or a script of another address asked. */
  #frameAt(url: string): FrameOfTree | null {
    const [id] = [...this.#frameTree].find(([, frame]) => url !== '' && frame.url === url) ?? [];
    return id === undefined ? null : this.#frameOf(id);
  }

  /** What becomes of a request, as a command of the protocol. */
  async #answer(url: string, resourceType: string): Promise<[string, Parameters]> {
    const { app } = theWorld();
    // Chromium's loader cannot read the archive that a packaged app is in.
    if (url.startsWith('file:') && app.isPackaged && fileURLToPath(url).startsWith(app.getAppPath())) {
      this.#lastError = netError('net::ERR_FILE_NOT_FOUND');
      return ['Fetch.failRequest', { errorReason: 'Failed' }];
    }
    if (!url.startsWith('kiosk:')) return ['Fetch.continueRequest', {}];
    const handler = this.session.handlers.get('kiosk');
    const { standard, secure, supportFetchAPI } = privileges.get('kiosk') ?? {};
    // Without these two it has no origin, no relative addresses, and is no secure context, as the stand-in here has.
    const isServed = handler !== undefined && standard === true && secure === true;
    // What scripts fetch is refused by the renderer (electron_api_protocol.cc, RegisterSchemesAsPrivileged; Chromium's SchemeRegistry).
    if (!isServed || (['Fetch', 'XHR'].includes(resourceType) && supportFetchAPI !== true)) {
      return ['Fetch.failRequest', { errorReason: 'Failed' }];
    }
    let response: Response;
    try {
      response = await handler(new Request(url));
      if (!(response instanceof Response)) throw new TypeError('the handler gave no response');
    } catch (error) {
      // As lib/browser/api/protocol.ts: ERR_UNEXPECTED.
      console.error(error);
      return ['Fetch.failRequest', { errorReason: 'Failed' }];
    }
    const body = Buffer.from(await response.arrayBuffer()).toString('base64');
    const responseHeaders = [...response.headers].map(([name, value]) => ({ name, value }));
    return ['Fetch.fulfillRequest', { responseCode: response.status, responseHeaders, body }];
  }

  async #receiveMessage(
    { channel, args, call }: { channel: string; args: unknown[]; call?: number },
    senderFrame: Frame | null,
  ): Promise<void> {
    const { ipcMain } = theWorld();
    const values = decode(args) as unknown[];
    const event = { type: 'frame', sender: this, senderFrame, frameId: 1, processId: 1 };
    if (call === undefined) {
      for (const each of [this.ipc, ipcMain]) each.emit(channel, event, ...values);
      return;
    }
    const handler = [this.ipc, ipcMain].find((each) => each.handlers.has(channel))?.handlers.get(channel);
    let answer: object;
    try {
      if (handler === undefined) throw new Error(`No handler registered for '${channel}'`);
      answer = { reply: call, result: encode(await handler(event, ...values)) };
    } catch (error) {
      if (handler !== undefined) console.error(`Error occurred in handler for '${channel}':`, error);
      answer = { reply: call, error: `Error invoking remote method '${channel}': ${error}` };
    }
    await this.#call(preloadWorld, answer);
  }

  /** Calls the mock's function in a world of the page. */
  async #call(world: string, message: object): Promise<void> {
    const contextId = this.#contexts.get(world);
    if (contextId === undefined) return;
    const { send } = await this.attached;
    await send('Runtime.evaluate', { expression: `${callback}(${JSON.stringify(message)})`, contextId }).catch(
      () => {},
    );
  }

  #sendPainted(): void {
    void this.#call('', { painted: this.#isPainted });
  }

  /** Whether the view is painted: no frame comes otherwise. Called by its window. */
  setPainted(painted: boolean): void {
    if (painted === this.#isPainted) return;
    this.#isPainted = painted;
    if (this.isDestroyed()) return;
    this.#sendPainted();
    if (this.#layout === 'due') this.#noteLayout();
    if (hasRealWindows) void this.#takePictures();
  }
  /** At the first layout with content, again after each navigation (electron_api_web_contents.cc, OnFirstNonEmptyLayout). */
  #noteLayout(): void {
    if (this.#layout === 'done') return;
    this.#layout = this.#isPainted ? 'done' : 'due';
    if (this.#isPainted) this.emit('ready-to-show', createEvent());
  }
  /** As it is now, if it is painted. Called by its window, which shows no older one once its views have changed. */
  async takePicture(): Promise<void> {
    const { send } = await this.attached;
    // Nothing is painted before the first document, and a page that has crashed never answers.
    if (this.commits === 0 || this.isCrashed || !this.#isPainted) return;
    const { commits } = this;
    let isTaken = false;
    const taken = send('Page.captureScreenshot', { format: 'png', optimizeForSpeed: true })
      .catch(() => ({}))
      .finally(() => {
        isTaken = true;
      });
    const lost = async (): Promise<object> => {
      const until = performance.now() + PICTURE_PATIENCE_MS;
      while (!isTaken && !this.isCrashed && this.commits === commits && performance.now() < until)
        await wait(PICTURE_MS);
      return {};
    };
    const { data } = (await Promise.race([taken, lost()])) as { data?: string };
    if (data === undefined || this.isCrashed || !this.#isPainted || this.isDestroyed()) return;
    if (data === this.picture?.png) return;
    this.picture = { png: data, number: (this.picture?.number ?? 0) + 1 };
    this.onPicture();
    this.#pictureMs = PICTURE_MS;
  }
  /** Until it is no longer painted. */
  async #takePictures(): Promise<void> {
    if (this.#isTakingPictures) return;
    this.#isTakingPictures = true;
    const canPaint = () => this.#isPainted && !this.isDestroyed();
    while (canPaint()) {
      const since = performance.now();
      await this.takePicture();
      const end = performance.now();
      // On a machine that is too slow for pictures the page has the processor most of the time.
      const least = 2 * (end - since);
      while (performance.now() - end < Math.max(least, this.#pictureMs) && canPaint()) await wait(PICTURE_MS);
      this.#pictureMs = Math.min(PICTURE_MOST_MS, this.#pictureMs * 2);
    }
    this.#isTakingPictures = false;
  }
  get isPainted(): boolean {
    return this.#isPainted;
  }

  /** Called by its view. @param color as `#rrggbb` or `#aarrggbb` */
  setBaseColor({ r, g, b, a }: { r: number; g: number; b: number; a: number }): void {
    void this.attached
      .then(({ send }) => send('Emulation.setDefaultBackgroundColorOverride', { color: { r, g, b, a } }))
      .catch(() => {});
  }

  resize({ width, height }: { width: number; height: number }): void {
    void this.attached
      .then(({ send }) =>
        send('Emulation.setDeviceMetricsOverride', {
          width: Math.max(1, width),
          height: Math.max(1, height),
          deviceScaleFactor: 1,
          mobile: false,
        }),
      )
      .catch(() => {});
  }

  /** With `pragma: no-cache` the document is not taken from the HTTP cache. */
  loadURL(url: string, { extraHeaders = '' } = {}): Promise<void> {
    this.#check();
    const loaded = awaitLoad(this, url);
    // As Electron's: callers need not await it.
    loaded.catch(() => {});
    void this.#navigate(url, extraHeaders.includes('no-cache'));
    return loaded;
  }

  async #navigate(url: string, cacheDisabled: boolean): Promise<void> {
    const { send } = await this.attached;
    if (this.isDestroyed()) return;
    this.#requested = url;
    this.#hasNavigated = true;
    // What becomes of it is reported by events.
    if (cacheDisabled) await send('Network.setCacheDisabled', { cacheDisabled }).catch(() => {});
    await send('Page.navigate', { url: toChromium(url) }).catch(() => {});
    if (cacheDisabled) await send('Network.setCacheDisabled', { cacheDisabled: false }).catch(() => {});
  }

  reload(): void {
    this.#check();
    this.#requested = this.getURL();
    void this.attached.then(({ send }) => send('Page.reload')).catch(() => {});
  }

  #check(): void {
    if (this.isDestroyed()) throw new TypeError('Object has been destroyed');
  }

  /** As the page is painted, whether it is covered or not. */
  async capturePage(): Promise<NativeImage> {
    this.#check();
    const { send } = await this.attached;
    const { data } = await send('Page.captureScreenshot', { format: 'png' });
    return NativeImage.fromPng(Buffer.from(String(data), 'base64'));
  }

  /** Waits until the page has loaded (lib/browser/api/web-contents.ts, waitTillCanExecuteJavaScript); its main frame does not. */
  async executeJavaScript(expression: string): Promise<unknown> {
    this.#check();
    if (this.getURL() === '' || this.#isLoading) await once(this, 'did-stop-loading');
    return this.#evaluate(expression);
  }

  async #evaluate(expression: string): Promise<unknown> {
    this.#check();
    this.#pictureMs = PICTURE_MS;
    const { send } = await this.attached;
    const { result, exceptionDetails } = await send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error('Script failed to execute');
    return (result as { value: unknown }).value;
  }

  async insertCSS(css: string, { cssOrigin = 'author' } = {}): Promise<string> {
    this.#check();
    lastId += 1;
    const key = String(lastId);
    // As those of the user, the important declarations of a layer precede those of the page.
    const rules = cssOrigin === 'user' ? `@layer user { ${css} }` : css;
    await this.#evaluate(`{
      const sheet = Object.assign(new CSSStyleSheet(), { key: '${key}' });
      sheet.replaceSync(${JSON.stringify(rules)});
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    }`);
    return key;
  }
  async removeInsertedCSS(key: string): Promise<void> {
    this.#check();
    await this.#evaluate(
      `document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet.key !== '${key}')`,
    );
  }

  /** Gives an event to the app first, and then to the page unless the app has prevented it. */
  sendInputEvent(given: KeyInput | MouseInput): void {
    this.#check();
    const event = createEvent();
    if (isMouse(given)) {
      this.emit('before-mouse-event', event, given);
      if (!event.defaultPrevented) this.#dispatch('Input.dispatchMouseEvent', mouseOf(given));
      return;
    }
    const { input, chromium } = keyOf(given);
    if (input.type !== 'char') this.emit('before-input-event', event, input);
    if (!event.defaultPrevented) this.#dispatch('Input.dispatchKeyEvent', chromium);
  }
  #dispatch(method: string, parameters: Parameters): void {
    if (this.isDestroyed()) return;
    const hanging = setTimeout(() => {
      if (!this.isDestroyed() && this.#isPainted) this.emit('unresponsive', createEvent());
    }, HANG_MS);
    hanging.unref();
    void this.attached
      .then(({ send }) => send(method, parameters))
      .then(
        () => clearTimeout(hanging),
        () => clearTimeout(hanging),
      );
  }

  setWindowOpenHandler(handler: OpenHandler): void {
    this.#check();
    this.#openHandler = handler;
  }
  setAudioMuted(muted: boolean): void {
    this.#check();
    this.isMuted = muted;
  }
  isLoading(): boolean {
    this.#check();
    return this.#isLoading;
  }
  /** Destroyed later, so that it can be closed in a handler of its own events. */
  close(): void {
    this.#check();
    setImmediate(() => {
      if (this.isDestroyed()) return;
      allContents.delete(this.id);
      if (focused === this) focused = null;
      void this.attached
        .then(async ({ targetId }) => (await theWorld().chromium).send('Target.closeTarget', { targetId }))
        .catch(() => {});
      this.emit('destroyed', createEvent());
    });
  }
  isDestroyed(): boolean {
    return allContents.get(this.id) !== this;
  }
  /**
   * Activates the window first (electron_api_web_contents.cc, Focus: on Linux and macOS; Windows does it itself). Before the
   * first document there is nothing that could have the keyboard (web_contents_view_aura.cc, Focus).
   */
  focus(): void {
    this.#check();
    if (this.activateWindow() && this.commits > 0) focused = this;
  }
  isFocused(): boolean {
    this.#check();
    return focused === this;
  }
  getURL(): string {
    this.#check();
    return this.#mainFrame.url;
  }
  getOSProcessId(): number {
    this.#check();
    return this.isCrashed ? 0 : this.#processId;
  }
  /** Really crashes it. */
  forcefullyCrashRenderer(): void {
    this.#check();
    void this.attached.then(({ send }) => send('Page.crash')).catch(() => {});
  }
}
