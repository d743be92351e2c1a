import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { describeBrowser } from '../../support/browser.ts';
import { lobby, patience, sharePlayer, waitForConnection } from '../../support/player.ts';
import type { TestService } from '../../support/service.ts';
import { walk } from '../../support/soak.ts';

const landscape = { width: 1280, height: 720 };

/** The entries' times are told from a zone in which it is now about noon, so that no test is run at midnight. */
const noon = (): string => {
  const hour = new Date().getUTCHours();
  return `Etc/GMT${hour >= 12 ? '+' : '-'}${Math.abs(hour - 12)}`;
};
const timeZone = noon();
const wallTime = (minutes: number): string =>
  new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone }).format(
    Date.now() + minutes * 60_000,
  );

const board = (duration_seconds = 3600) => ({
  kind: 'timetable',
  content: { group_id: 'trains' },
  duration_seconds,
});
const groups = (entries: object[], name = 'Departures') => ({ timetableGroups: [{ id: 'trains', name, entries }] });
const names = (page: Page): Promise<string[]> => page.locator('.row .name').allTextContents();
const command = (service: TestService, name: string) => service.post('/api/screens/lobby/commands', { command: name });

describeBrowser('a timetable', () => {
  const player = sharePlayer(landscape, { SIGNAGE_TIME_ZONE: timeZone });

  const open = async (entries: object[], more: object[] = [], duration_seconds?: number): Promise<Page> => {
    await player().page.setViewportSize(landscape);
    return player().show([board(duration_seconds), ...more], groups(entries));
  };

  it('tells what is still to come today, the next first, in the time of the site', async () => {
    const entries = [
      { time: wallTime(120), title: 'Later', location: 'Platform 2' },
      { time: wallTime(-5), title: 'Gone' },
      { time: wallTime(10), title: 'Next', detail: 'Express' },
    ];
    const page = await open(entries);
    expect(await names(page)).toEqual(['Next', 'Later']);
    expect(await page.locator('.row.next .detail').textContent()).toMatch(/^in (10|9) min.*Express$/);
    expect(await page.locator('.row .location').last().textContent()).toBe('Platform 2');
    expect(await page.locator('.head .title').textContent()).toBe('Departures');
  });

  it('lets go of what is over while it is on, and then tells of tomorrow', walk, async () => {
    // It stays for a minute, of which most is gone.
    const time = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone }).format(Date.now() - 44_000);
    const page = await open([{ time, title: 'Leaving' }]);
    const marked = await page.locator('.slide-timetable').evaluateHandle((element) => element);
    expect(await page.locator('.row.next .detail').textContent()).toBe('now');
    await expect.poll(() => page.locator('.day').textContent(), patience).toMatch(/^tomorrow/i);
    expect([await names(page), await page.locator('.row.next').count()]).toEqual([['Leaving'], 0]);
    expect(await page.locator('.slide-timetable').evaluate((element, first) => element === first, marked)).toBe(true);
  });

  it('has pages, turned by left and right; at the ends by a whole slide', async () => {
    const entries = Array.from({ length: 14 }, (_, at) => ({
      time: wallTime(30 + at),
      title: `Train ${at}`,
    }));
    const { service } = player();
    const page = await open(entries, [{ id: 'after', kind: 'text', title: 'A text', duration_seconds: 3600 }]);
    const perPage = (await names(page)).length;
    expect(perPage).toBeGreaterThan(4);
    expect(perPage).toBeLessThan(8);
    const first = async () => (await names(page))[0];
    await command(service, 'right');
    await expect.poll(first, patience).toBe(`Train ${perPage}`);
    await command(service, 'left');
    await expect.poll(first, patience).toBe('Train 0');
    await command(service, 'left');
    await waitForConnection(service, 'lobby', { currentSlideId: 'after' });
  });

  it('turns its pages by itself', async () => {
    const entries = Array.from({ length: 12 }, (_, at) => ({
      time: wallTime(30 + at),
      title: `Train ${at}`,
    }));
    const page = await open(entries, [], 9);
    await expect.poll(async () => (await names(page))[0], patience).toMatch(/^Train [4-8]$/);
  });

  it('of nothing is skipped and reported', async () => {
    const { service } = player();
    const slides = [
      { ...board(), id: 'board' },
      { id: 'after', kind: 'text', title: 'A text' },
    ];
    service.writeContent(lobby(slides, groups([])));
    await waitForConnection(service, 'lobby', { currentSlideId: 'after' });
    await expect.poll(() => service.log(), patience).toMatch(/"slideId":"board","reason":"there is nothing/);
  });

  it('cuts off neither a place nor its title, and lets none run into the next row', async () => {
    const entry = (at: number, title: string, location: string) => ({ time: wallTime(at), title, location });
    const long = entry(30, 'Universitätsklinikum über Marktplatz und Rathaus', 'Bussteig am Omnibusbahnhof West');
    const name = 'Abfahrten aller Linien am Hauptbahnhof Nord, Europaplatz';
    const many = Array.from({ length: 20 }, (_, at) => entry(31 + at, 'Flughafen', 'Bussteig 1'));
    const { page, service } = player();
    const cut = () =>
      page.locator('.sheet').evaluate((sheet) => {
        const isCut = ({ scrollWidth, clientWidth, scrollHeight, clientHeight }: Element): boolean =>
          scrollWidth > clientWidth || scrollHeight > clientHeight * 1.2;
        const runsOver = (part: Element): boolean => {
          const [own, row] = [part.getBoundingClientRect(), part.closest('.row')?.getBoundingClientRect()];
          return row !== undefined && own.height > 0 && (own.top < row.top - 1 || own.bottom > row.bottom + 1);
        };
        const parts = [...sheet.querySelectorAll('.title, .name, .location')];
        return parts.filter((part) => isCut(part) || runsOver(part)).map((part) => part.textContent);
      });
    for (const entries of [[long], [long, ...many]]) {
      service.writeContent(lobby([{ ...board(), id: 'long' }], groups(entries, name)));
      await expect.poll(async () => (await names(page))[0], patience).toBe(long.title);
      await expect.poll(async () => (await names(page)).length > 1, patience).toBe(entries.length > 1);
      for (const viewport of [landscape, { width: 720, height: 1280 }]) {
        await page.setViewportSize(viewport);
        await expect.poll(cut, patience).toEqual([]);
      }
    }
  });

  it('can be read from afar, whatever stands in it', async () => {
    const entry = (title: string, more = {}) => ({ time: wallTime(30), title, ...more });
    const entries = [
      entry('Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogoch', { location: 'Platform 12' }),
      entry('الرحلة إلى الإسكندرية', { detail: 'word '.repeat(60) }),
      ...Array.from({ length: 48 }, (_, at) => entry(`Train ${at}`)),
    ];
    const page = await open(entries);
    for (const viewport of [landscape, { width: 720, height: 1280 }, { width: 390, height: 844 }]) {
      await page.setViewportSize(viewport);
      const measure = () =>
        page.locator('.sheet').evaluate((sheet) => {
          const unit = Math.min(innerWidth, innerHeight) / 100;
          const sizes = [...sheet.querySelectorAll('.row .time')].map((time) =>
            Number.parseFloat(getComputedStyle(time).fontSize),
          );
          const last = [...sheet.querySelectorAll('.row')].at(-1)?.getBoundingClientRect().bottom ?? 0;
          return { size: Math.min(...sizes) / unit, over: last - sheet.getBoundingClientRect().bottom };
        });
      await expect.poll(async () => (await measure()).over, patience).toBeLessThanOrEqual(1);
      expect((await measure()).size).toBeGreaterThanOrEqual(4.5);
    }
  });
});
