/** The kiosk on ports that record what it asks for: no runtime, no browser, no disk. */
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createKiosk } from '../../main/kiosk.ts';
import type { MaintenancePageHandlers } from '../../main/maintenance.ts';
import type { Run } from '../../main/processes.ts';
import type { HostedService, KioskFiles, KioskState, ServiceHost } from '../../main/service-host.ts';
import type { DisplayViewHandlers, Picture } from '../../main/windows/display-view.ts';
import type { Display } from '../../main/windows/displays.ts';
import { temporaryFolder } from '../support/service.ts';

const display = (id: number, bounds: Partial<Display['bounds']> = {}): Display => ({
  id,
  label: `TV ${id}`,
  bounds: { x: id * 2000, y: 0, width: 1920, height: 1080, ...bounds },
});

const running = (log: string[] = []) =>
  ({
    url: 'http://127.0.0.1:8080',
    nodeId: '3f2b8c1e-90ab-4cde-8f01-23456789abcd',
    timeZone: () => 'UTC',
    options: { kiosk: { updates: { channel: 'latest', hours: '03:00-05:00' } } },
    screens: () => [],
    hours: () => null,
    isEmergency: () => false,
    screenOf: () => 'lobby',
    updateFeeds: () => [],
    pageHeaders: () => null,
    sessionPages: () => [],
    rootFingerprint: () => null,
    close: async () => void log.push('service closed'),
  }) as unknown as HostedService;

/** The kiosk's own files, without a disk. */
const filesWith = (settings: object = {}) => {
  let state: KioskState = { slots: [], pin: null, past: { started: true, bound: false }, byHand: [] };
  const files = {
    settings: { ...running().options.kiosk, displays: 'all', rotation: 0, ...settings },
    state: {
      read: () => state,
      update: async (change: (before: KioskState) => KioskState) => {
        state = change(state);
      },
    },
    configure: async () => {},
  };
  return files as unknown as KioskFiles;
};

/** A kiosk whose windows are recorded as they open and close, with the pages that they show. */
const kioskWith = (
  start: () => Promise<HostedService>,
  connected: Display[] = [display(1)],
  files: KioskFiles | null = null,
  execute: Run = async () => '',
  system: string | null = null,
) => {
  const log: string[] = [];
  const box = { displays: connected };
  const views: { id: number; handlers: DisplayViewHandlers }[] = [];
  const pages: MaintenancePageHandlers[] = [];
  const kiosk = createKiosk(
    {
      app: {
        isPackaged: false,
        getVersion: () => '1.2.3',
        getPath: () => '',
        quit: () => void log.push('quit'),
        getLoginItemSettings: () => ({ openAtLogin: false }),
        setLoginItemSettings: () => {},
      },
      host: {
        log: pino({ level: 'silent' }),
        lines: () => [],
        dataDir: temporaryFolder(),
        checkConfig: () => [],
        mediaFolders: () => [],
        lendSecrets: (act) => act(),
        files: () => files,
        lanUrl: () => null,
        start,
      } satisfies ServiceHost,
      proxy: { use: async () => {}, answer: () => {} },
      displays: () => box.displays,
      primaryDisplayId: () => box.displays[0]?.id ?? 0,
      placeWindows: () => {},
      relaunch: (reason) => void log.push(`relaunch: ${reason}`),
      memoryByProcess: () => new Map(),
      panels: [],
      keepAwake: () => {},
      graphics: () => ({ gpu: 'hardware', gpu_features: {}, video_decode: 'unknown' }),
      showLabel: async () => {},
      execute,
      openPage: (_, handlers) => {
        pages.push(handlers);
        return { rotate: () => {}, makeRoom: () => {}, close: () => void log.push('maintenance closed') };
      },
      openPartition: () => {
        throw new Error('no slide has a session');
      },
      openSignInPage: () => {
        throw new Error('nobody signs in');
      },
      openView: ({ id }, handlers) => {
        log.push(`open ${id}`);
        views.push({ id, handlers });
        return {
          window: {
            put: () => {},
            remove: () => {},
            close: () => {},
            move: () => {},
            isCovered: () => false,
            focus: () => {},
            destroy: () => {},
            over: () => null,
            shutBy: () => null,
            onChange: () => {},
          },
          show: ({ url }: Picture) => void log.push(`${id} shows ${url}`),
          blackout: () => {},
          processId: () => null,
          capture: async () => Uint8Array.of(id),
          close: () => void log.push(`close ${id}`),
        };
      },
    },
    {
      paths: {
        ...{ rendererDir: '', resourcesDir: '', appImage: null, painted: null, session: null, system },
        ...{ pagesDir: '', network: null, hotspot: null, isSupervised: false },
        systemd: { isWatched: false, intervalMs: null },
      },
      memory: 2 ** 32,
    },
  );
  onTestFinished(() => kiosk.stop());
  return { kiosk, log, box, views, pages };
};

beforeEach(
  () =>
    void vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'],
    }),
);
afterEach(() => void vi.useRealTimers());
/** Lets promises settle, which fake timers do not. */
const settle = () => vi.advanceTimersByTimeAsync(0);

describe('the kiosk', () => {
  it('opens a window for each display at once, and its page when the service runs', async () => {
    const { kiosk, log } = kioskWith(async () => running());
    expect(kiosk.openWindows()).toBe(1);
    expect(log).toEqual(['open 1']);
    expect(kiosk.serviceOrigin()).toBeNull();
    await kiosk.startService();
    expect(log.at(-1)).toMatch(/^1 shows http:\/\/127\.0\.0\.1:8080\/screen\/lobby\?deviceId=[\w-]+$/);
    expect(kiosk.serviceOrigin()).toBe('http://127.0.0.1:8080');
  });

  it('of the baseline shows the first screen, which counts as bound, and another once it is bound to that', async () => {
    const files = filesWith({ pin: '1234' });
    let screen: string | null = null;
    const service = {
      ...running(),
      options: { ...running().options, variant: 'baseline' },
      screens: () => ['lobby', 'door'].map((slug) => ({ slug, name: slug })),
      screenOf: () => screen,
      bind: async (_: string, slug: string) => {
        screen = slug;
      },
    } as unknown as HostedService;
    const { kiosk, log, views, pages } = kioskWith(async () => service, [display(1)], files);
    kiosk.openWindows();
    await kiosk.startService();
    expect(log.at(-1)).toContain('/screen/lobby?');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(files.state.read().past.bound).toBe(true);
    views[0]?.handlers.onChord();
    await pages[0]?.answer({ pin: '1234' });
    await pages[0]?.answer({ order: { do: 'bind', display: 1, screen: 'door' } });
    expect(log.at(-1)).toContain('/screen/door?');
  });

  it.each([
    ['can be quit', null, true],
    ['cannot be quit in an image, where nobody can log in', '/run/none', false],
  ])('%s', async (_, system, canQuit) => {
    const { kiosk, views, pages } = kioskWith(
      async () => running(),
      [display(1)],
      filesWith({ pin: '1234' }),
      undefined,
      system,
    );
    kiosk.openWindows();
    views[0]?.handlers.onChord();
    expect(await pages[0]?.answer({ pin: '1234' })).toMatchObject({ view: { canQuit } });
  });

  it('has the volume that somebody has set after the next start, too, which a mixer forgets without power', async () => {
    const said: string[] = [];
    let level = 80;
    const amixer: Run = async (program, args) => {
      if (program !== 'amixer') throw new Error('not here');
      if (args[0] === 'scontents') return "Simple mixer control 'Master',0\n  Capabilities: pvolume pswitch\n";
      if (args.includes('sset')) {
        said.push(args.join(' '));
        level = Number.parseInt(args[3] ?? '', 10);
      }
      return `  Mono: Playback 27 [${level}%] [on]`;
    };
    const files = filesWith();
    const [first, second] = [1, 2].map(() => kioskWith(async () => running(), [display(1)], files, amixer).kiosk);
    await first?.startService();
    expect(said).toEqual([]);
    const box = { name: 'box', address: null };
    expect(await first?.operate({ action: 'volume', value: 30 }, box)).toMatchObject({ result: 'done', state: 30 });
    level = 80;
    await second?.startService();
    await settle();
    expect([level, said]).toEqual([30, ['-M sset Master,0 30% unmute', '-M sset Master,0 30% unmute']]);
  });

  it('starts the service again until it runs, and shows why it does not, once for each reason', async () => {
    const errors = [new Error('first'), new Error('first'), Object.assign(new Error('second'), { code: 'ENOSPC' })];
    const { kiosk, log } = kioskWith(async () => {
      const error = errors.shift();
      if (error !== undefined) throw error;
      return running();
    });
    kiosk.openWindows();
    const started = kiosk.startService();
    await vi.advanceTimersByTimeAsync(10_000);
    await started;
    expect(log.filter((line) => line.includes('trouble.html')).map((line) => /message=(\w+)/.exec(line)?.[1])).toEqual([
      'first',
      'second',
    ]);
    expect(log.at(-1)).toContain('/screen/lobby');
  });

  it('closes a service that was still starting when it stops', async () => {
    const log: string[] = [];
    let finish: (service: HostedService) => void = () => {};
    const { kiosk } = kioskWith(() => new Promise((resolve) => (finish = resolve)));
    kiosk.openWindows();
    void kiosk.startService();
    await settle();
    const stopped = kiosk.stop();
    finish(running(log));
    await stopped;
    expect(log).toEqual(['service closed']);
  });

  it('opens and closes the windows of a display that flaps at most once in 5 s, and keeps the others', async () => {
    const { kiosk, log, box } = kioskWith(async () => running(), [display(1), display(2)]);
    kiosk.openWindows();
    await kiosk.startService();
    log.length = 0;
    for (let change = 1; change <= 120; change += 1) {
      box.displays = change % 2 === 0 ? [display(1), display(2)] : [display(1)];
      kiosk.displaysChanged();
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(log.filter((line) => line.endsWith(' 1'))).toEqual([]);
    expect(log.filter((line) => /^(open|close) 2$/.test(line)).length).toBeLessThanOrEqual(3);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(kiosk.health().screens.map(({ display: name }) => name)).toEqual(['TV 1', 'TV 2']);
  });

  it('starts the app once more where no page starts, and not while another display plays', async () => {
    const { kiosk, log, views } = kioskWith(async () => running(), [display(1), display(2)]);
    kiosk.openWindows();
    await kiosk.startService();
    const relaunches = () => log.filter((line) => line.startsWith('relaunch'));
    const beat = { frames: 10, ready: true, hidden: false, slide: 'a', free: true, video: null };
    const playing = setInterval(() => views.find(({ id }) => id === 1)?.handlers.onHeartbeat(beat), 3_000);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(relaunches()).toEqual([]);
    expect(log.filter((line) => line.startsWith('2 shows http')).length).toBeGreaterThan(4);
    clearInterval(playing);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(relaunches()[0]).toContain('did not start within 240 s');
  });

  it('opens no page again while all displays are gone, and one that has stopped once a display is back', async () => {
    const { kiosk, log, views, box } = kioskWith(async () => running());
    kiosk.openWindows();
    await kiosk.startService();
    const beat = { frames: 10, ready: true, free: true, hidden: false, slide: 'a', video: null };
    const playing = setInterval(
      () => views[0]?.handlers.onHeartbeat({ ...beat, frames: box.displays.length * 10 }),
      3_000,
    );
    await vi.advanceTimersByTimeAsync(10_000);
    log.length = 0;
    box.displays = [];
    kiosk.displaysChanged();
    await vi.advanceTimersByTimeAsync(900_000);
    expect(log).toEqual([]);
    box.displays = [display(1)];
    kiosk.displaysChanged();
    clearInterval(playing);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(log).toEqual([]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(log).toHaveLength(1);
  });

  it.each<[string, Partial<Display['bounds']>]>([
    ['no size', { width: 0, height: 0 }],
    ['a negative size', { width: -1 }],
    ['a size that is no number', { height: Number.NaN }],
    ['a fraction of a pixel', { x: 0.5 }],
    ['an infinite size', { width: Number.POSITIVE_INFINITY }],
  ])('opens no window on a display that reports %s, and its window once it reports a size', async (_, bounds) => {
    const { kiosk, log, box } = kioskWith(async () => running(), [display(1), display(2, bounds)]);
    expect(kiosk.openWindows()).toBe(1);
    box.displays = [display(1), display(2)];
    kiosk.displaysChanged();
    await vi.advanceTimersByTimeAsync(300);
    expect(log).toEqual(['open 1', 'open 2']);
    box.displays = [display(1, bounds), display(2, bounds)];
    kiosk.displaysChanged();
    await vi.advanceTimersByTimeAsync(300);
    expect(log).toEqual(['open 1', 'open 2']);
  });
});
