/** Pages that somebody signs in to at the box: kept over a restart, kept apart, and found once they are signed out. */
import { EventEmitter, once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSessions } from '../../main/sessions/index.ts';
import { areSameCookies, type KeptCookie, keptLimits, storageOf } from '../../main/sessions/session-store.ts';
import { isWithin, judge } from '../../main/sessions/signed-out.ts';
import { createSignIn } from '../../main/sign-in.ts';
import { describeBrowser } from '../support/browser.ts';
import { clickAt, type Electron, sendInput } from '../support/electron/ask.ts';
import { itDouble, patience, startKiosk, type TestKiosk } from '../support/kiosk.ts';
import { lobby } from '../support/player.ts';
import { temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { healthOf } from './health.ts';

describe('a page is signed in', () => {
  it.each([
    ['https://a.test/d/board', 'https://a.test/d', true],
    ['https://a.test/d', 'https://a.test/d/', true],
    ['https://a.test/d/board?login', 'https://a.test', true],
    ['https://a.test/#/board/1', 'https://a.test/#/board', true],
    ['https://a.test/#/login', 'https://a.test/#/board', false],
    ['https://a.test/dashboard', 'https://a.test/d', false],
    ['https://a.test:444/d', 'https://a.test/d', false],
    ['http://a.test/d', 'https://a.test/d', false],
    ['https://a.test.evil/d', 'https://a.test/d', false],
    ['chrome-error://chromewebdata/', 'https://a.test/d', false],
    ['', 'https://a.test/d', false],
  ])('at %s, where it should begin like %s: %s', (url, beginning, isIn) => {
    expect(isWithin(url, beginning)).toBe(isIn);
    const page = { address: 'https://a.test/', signedInAt: beginning };
    expect(judge({ url, asks: false }, page)).toBe(isIn ? 'in' : 'elsewhere');
    expect(judge({ url, asks: true }, page)).toBe('password');
  });
});

it('keeps no answer of a page that is no storage, or too large', () => {
  expect(storageOf({ theme: 'dark' })).toEqual({ theme: 'dark' });
  for (const answer of [null, 'text', { theme: 1 }, { a: { b: 'c' } }, { a: 'x'.repeat(keptLimits.storageCharacters) }])
    expect(storageOf(answer)).toBeNull();
});

it('does not write cookies again whose end alone has moved a little', () => {
  const sid: KeptCookie = {
    ...{ name: 'sid', value: 'a', domain: 'a.test', hostOnly: true, path: '/', secure: false, httpOnly: true },
    ...{ sameSite: 'lax', expires: 1_800_000_000 },
  };
  const other = { ...sid, name: 'other', expires: null };
  expect(areSameCookies([sid, other], [other, { ...sid, expires: 1_800_000_060 }])).toBe(true);
  expect(areSameCookies([sid], [{ ...sid, expires: 1_800_003_600 }])).toBe(false);
  expect(areSameCookies([sid], [{ ...sid, value: 'b' }])).toBe(false);
});

it('opens no page to sign in to after the maintenance page was closed', async () => {
  const opened: string[] = [];
  let go = () => {};
  const signIn = createSignIn({
    sessions: { open: () => new Promise<void>((resolve) => (go = resolve)), signedInAtOf: () => null } as never,
    openPage: (_window, { address }) => {
      opened.push(address);
      return { close: () => {} } as never;
    },
    makeRoom: () => {},
    onChord: () => {},
  });
  const place = { window: {} as never, rotation: 0, displayId: 1 } as const;
  for (const giveUp of [signIn.end, () => signIn.arrange([])]) {
    const begun = signIn.begin('figures', 'https://a.test/', place);
    giveUp();
    go();
    await begun;
    expect([opened, signIn.shown()]).toEqual([[], null]);
  }
});

it.each([
  [true, true, true],
  [true, false, false],
  [false, true, false],
])(
  'whose page has loaded (%j) and asks for no sign-in (%j): somebody is signed in is %j',
  async (isLoaded, isIn, told) => {
    const kept: string[] = [];
    const signIn = createSignIn({
      sessions: {
        open: async () => ({ partition: 'p', keep: async () => void kept.push('storage'), isOut: async () => !isIn }),
        signedInAtOf: () => null,
        signedIn: async (name: string) => void kept.push(name),
      } as never,
      openPage: () =>
        ({ contents: { isDestroyed: () => false }, load: async () => isLoaded, close: () => {} }) as never,
      makeRoom: () => {},
      onChord: () => {},
    });
    await signIn.begin('figures', 'https://a.test/', { window: {} as never, rotation: 0, displayId: 1 });
    expect(await signIn.finish()).toBe(told);
    expect(kept).toEqual(told ? ['figures', 'storage'] : []);
  },
);

/** The storage of a page, as its scripts see it. */
class FakeStorage {
  [key: string]: unknown;
  constructor(values: object) {
    Object.assign(this, values);
  }
  getItem(key: string): unknown {
    return this[key] ?? null;
  }
  setItem(key: string, value: string): void {
    this[key] = value;
  }
}

describe('what a session has kept', () => {
  const ADDRESS = 'https://a.test/board';
  /** @param storage null: that of an error, which has none */
  const pageWith = (storage: FakeStorage | null) => {
    const run = async (script: string) => runInNewContext(script, storage === null ? {} : { localStorage: storage });
    const page = { loadURL: async () => {}, getURL: () => ADDRESS, isDestroyed: () => false };
    return Object.assign(new EventEmitter(), page, { mainFrame: { executeJavaScript: run } }) as never;
  };
  const startSessions = (dataDir: string) => {
    const cookies = Object.assign(new EventEmitter(), { get: async () => [], set: async () => {} });
    return createSessions({
      ...{ log: pino({ level: 'silent' }), dataDir, service: () => null },
      openPartition: () => ({ cookies }) as never,
    });
  };
  /** Of a start of the kiosk: what a page takes, given what it has. */
  const restored = async (dataDir: string, had: object = {}) => {
    const sessions = startSessions(dataDir);
    const storage = new FakeStorage(had);
    await (await sessions.open('figures', ADDRESS, null)).restore(pageWith(storage));
    await sessions.close();
    return storage;
  };

  it('waits for a page that can take it, and is replaced only by somebody who signs in', async () => {
    const dataDir = temporaryFolder();
    const first = startSessions(dataDir);
    const asked = await first.open('figures', ADDRESS, null);
    await asked.restore(pageWith(new FakeStorage({})));
    await asked.keep(pageWith(new FakeStorage({ token: 'a' })));
    await first.close();
    expect(await restored(dataDir, { theme: 'dark' })).toEqual({ token: 'a', theme: 'dark' });

    const second = startSessions(dataDir);
    const session = await second.open('figures', ADDRESS, null);
    await session.restore(pageWith(null));
    await session.keep(pageWith(new FakeStorage({ theme: 'light' })));
    const next = new FakeStorage({});
    await session.restore(pageWith(next));
    expect(next).toEqual({ token: 'a' });
    await session.keep(pageWith(new FakeStorage({ token: 'b' })));
    await second.close();
    expect(await restored(dataDir)).toEqual({ token: 'b' });

    const third = startSessions(dataDir);
    const signedIn = await third.open('figures', ADDRESS, null);
    await third.signedIn('figures', ADDRESS);
    await signedIn.keep(pageWith(new FakeStorage({ token: 'c' })));
    await third.close();
    expect(await restored(dataDir)).toEqual({ token: 'c' });
  });
});

/** A dashboard with a login page. It can end everybody's session, and asks for what no page may have. */
const startDash = async () => {
  const state = { tokens: new Set<string>(), isDown: false };
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const token = /(?:^|; )sid=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '';
    response.setHeader('Content-Type', 'text/html');
    if (path === '/file') {
      response.setHeader('Content-Disposition', 'attachment; filename=x.bin');
      return void response.end('file');
    }
    if (path.startsWith('/enter')) {
      const next = `t0ken-${state.tokens.size}-c00kie`;
      state.tokens.add(next);
      // Without a date it ends with the browser.
      response.setHeader('Set-Cookie', `sid=${next}; HttpOnly; Path=/`);
      return void response.writeHead(302, { Location: '/board?entered' }).end();
    }
    if (path.startsWith('/login')) {
      const unruly = `<script>
        window.opened = open('/popup');
        window.asked = navigator.permissions.query({ name: 'camera' }).then(({ state }) => state);
        Object.assign(document.createElement('a'), { href: '/file', download: 'x' }).click();
      </script>`;
      // As some sites answer whom they do not know.
      response.statusCode = 401;
      return void response.end(
        `<!doctype html><h1>Sign in</h1><input type="password"><a href="/enter">Enter</a>${unruly}`,
      );
    }
    if (state.isDown) return void response.writeHead(502).end('<!doctype html><h1>Bad gateway</h1>');
    if (!state.tokens.has(token)) return void response.writeHead(302, { Location: '/login' }).end();
    response.end(
      '<!doctype html><h1>Figures</h1><script>if (location.search === "?entered") localStorage.theme = "st0rage"; document.title = localStorage.theme ?? "none"; if (location.search === "?entered") addEventListener("beforeunload", (event) => event.preventDefault())</script>',
    );
  });
  const start = async (port: number): Promise<void> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const stop = (): void => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(stop);
  await start(0);
  const { port } = server.address() as AddressInfo;
  return { state, stop, start: () => start(port), url: `http://127.0.0.1:${port}` };
};

const externals = (kiosk: TestKiosk) =>
  kiosk.evaluate(({ webContents }: Electron) =>
    webContents
      .getAllWebContents()
      .filter(({ session }: Electron) => session.partition.startsWith('session-'))
      .map((each: Electron) => ({ url: each.getURL(), partition: each.session.partition, isMuted: each.isMuted })),
  );

/** The text of every file under a folder. */
const textsIn = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');

describeBrowser('a page with a session', { timeout: 180_000 }, () => {
  itDouble('is signed in to once, at the box, and found when it is signed out', walk, async () => {
    const dash = await startDash();
    const receiver: { type: string; subject: string; message: string }[] = [];
    const alerts = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      receiver.push(JSON.parse(body));
      response.end();
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void alerts.close());
    await once(alerts, 'listening');
    const web = { session: 'figures', signed_in_at: `${dash.url}/board` };
    const page = (id: string, more: object) => ({
      id,
      kind: 'web',
      media_url: `${dash.url}/board`,
      duration_seconds: 600,
      content: { web: { ...web, ...more } },
    });
    const dataDir = temporaryFolder();
    const options = {
      dataDir,
      content: lobby([page('board', {}), { id: 'hello', kind: 'text', title: 'Hello', duration_seconds: 600 }]),
      config: { kiosk: { displays: [{ display: 1, screen: 'lobby' }], pin: '2468' } },
      env: {
        SIGNAGE_ALERT_URL: `http://127.0.0.1:${(alerts.address() as AddressInfo).port}/`,
        SIGNAGE_ALERT_GRACE_SECONDS: '0',
      },
    };
    const kiosk = await startKiosk(options);
    const shown = async (of: TestKiosk) => (await healthOf(of)).screens[0]?.slide;
    const send = async (of: TestKiosk, command: 'next' | 'reload') =>
      fetch(`${await of.url()}/api/screens/lobby/commands`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ command }),
      });
    const sessions = async (of: TestKiosk) => (await healthOf(of)).sessions;
    // Nobody is signed in: the slide fails, the next one is shown, and an alert is sent.
    await expect.poll(() => shown(kiosk), patience).toBe('hello');
    const out = { name: 'figures', origin: dash.url, signed_in_at: null, signed_out: [`${dash.url}/board`] };
    await expect.poll(() => sessions(kiosk), patience).toEqual([out]);
    await expect.poll(() => receiver, patience).toMatchObject([{ type: 'slide.signed_out', subject: 'board' }]);
    expect(receiver[0]?.message).toContain('maintenance page');
    expect(await externals(kiosk)).toEqual([]);

    await kiosk.pressChord();
    const maintenance = await kiosk.page(/maintenance\.html/);
    for (const digit of '2468') await maintenance.getByRole('button', { name: digit, exact: true }).click();
    await maintenance.getByRole('button', { name: 'Enter' }).click();
    await maintenance.getByText('Signed out: it asks for a sign-in').first().waitFor();
    expect(await maintenance.locator('img.picture').getAttribute('src')).toMatch(/^data:image\/jpeg;base64,/);
    await maintenance.getByRole('button', { name: 'Sign in', exact: true }).click();
    const login = await kiosk.page(/\/login$/);
    await login.getByRole('heading', { name: 'Sign in' }).waitFor();
    const layout = () =>
      kiosk.evaluate(({ BaseWindow }: Electron) =>
        BaseWindow.getAllWindows()[0]
          .contentView.children.slice(-2)
          .map(({ bounds, webContents }: Electron) => [bounds.y, bounds.height, webContents.isFocused()]),
      );
    await expect.poll(layout, patience).toEqual([
      [0, 76, false],
      [76, 464, true],
    ]);
    // It is as every page of others: alone, silent, and without rights.
    expect(await externals(kiosk)).toMatchObject([{ isMuted: true }]);
    const asked =
      'Promise.resolve(window.asked).then((asked) => [window.opened, asked, typeof maintenance, typeof kiosk])';
    const [opened, camera, ...bridges] = await login.evaluate<string[]>(asked);
    expect([opened, ...bridges]).toEqual([null, 'undefined', 'undefined']);
    expect(camera).toBe('denied');
    // What a proxy says in the place of the site is no page that somebody is signed in to.
    dash.state.isDown = true;
    await maintenance.getByRole('button', { name: 'I am signed in' }).click();
    await maintenance.getByText('still asks for a sign-in').waitFor();
    dash.state.isDown = false;
    await maintenance.getByRole('button', { name: 'Sign in', exact: true }).click();
    await (await kiosk.page(/\/login$/)).getByRole('heading', { name: 'Sign in' }).waitFor();
    // Before anybody has signed in it is no use to say so.
    await maintenance.getByRole('button', { name: 'I am signed in' }).click();
    await maintenance.getByText('still asks for a sign-in').waitFor();
    await maintenance.getByRole('button', { name: 'Sign in', exact: true }).click();
    // Unlike a slide it gets the clicks that the app gets first.
    const enter = (await kiosk.page(/\/login$/)).getByRole('link', { name: 'Enter' });
    const { x, y } = (await enter.boundingBox()) ?? { x: 0, y: 0 };
    await sendInput(kiosk.evaluate, '/login', ...clickAt(x + 5, y + 5));
    const entered = await kiosk.page(/\/board\?entered$/);
    // It asks whether somebody really wants to leave it, which Playwright would answer.
    entered.on('dialog', () => {});
    await entered.getByRole('heading', { name: 'Figures' }).click();
    await maintenance.getByRole('button', { name: 'I am signed in' }).click();
    await maintenance.getByText('Signed in here on').waitFor();
    await maintenance.getByRole('button', { name: 'Done' }).click();
    expect(dash.state.tokens.size).toBe(1);
    await expect
      .poll(() => sessions(kiosk), patience)
      .toMatchObject([{ signed_in_at: expect.any(String), signed_out: [] }]);
    await send(kiosk, 'next');
    await expect.poll(() => shown(kiosk), patience).toBe('board');
    const audit = (await (await fetch(`${await kiosk.url()}/console/api/audit`)).json()) as { records: object[] };
    expect(audit.records).toContainEqual(expect.objectContaining({ action: 'session.signin', target: 'figures' }));

    // Everything is in one file, readable by the player alone, and no file has it in plain text.
    await expect.poll(() => statSync(join(dataDir, 'sessions.json')).mode & 0o777, patience).toBe(0o600);
    expect(statSync(join(dataDir, 'seal-key')).mode & 0o777).toBe(0o600);
    await kiosk.quit();
    await kiosk.ended();
    expect(textsIn(dataDir)).not.toMatch(/t0ken-|st0rage/);

    // With a cookie that ends with the browser, and with the storage of the page, though its site starts later than the box.
    dash.stop();
    const again = await startKiosk(options);
    await expect.poll(() => shown(again), patience).toBe('hello');
    await dash.start();
    // A slide that failed rests, but not in a new page.
    await send(again, 'reload');
    await expect.poll(() => shown(again), patience).toBe('board');
    const titles = () => again.pages().flatMap((each) => (each.url() === `${dash.url}/board` ? [each.title()] : []));
    await expect.poll(async () => (await Promise.all(titles())).at(-1), patience).toBe('st0rage');
    expect(dash.state.tokens.size).toBe(1);

    // The site ends the session while the page is on.
    dash.state.tokens.clear();
    await (await again.page(/\/board$/)).evaluate('location.reload()');
    await expect.poll(() => shown(again), patience).toBe('hello');
    await expect.poll(async () => (await sessions(again))?.[0]?.signed_out, patience).toEqual([`${dash.url}/board`]);
    expect((await healthOf(again)).sessions[0]?.signed_in_at).toEqual(expect.any(String));
  });
});
