/** The onboarding form, on a phone, where things are not as they should be. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished } from 'vitest';
import { describeBrowser, isSkipped, itBrowser as it } from '../support/browser.ts';
import { joinScreen } from '../support/page.ts';
import type { TestService } from '../support/service.ts';
import {
  content,
  openForm as openOther,
  openPhone,
  patience,
  shareReachable,
  showUp,
  startReachable,
} from './browser.ts';
import { bind as bindDevice } from './support.ts';

/** The player of the case: each has one of its own at the one service. */
let device = '';
let devices = 0;
const formOf = ({ url }: { url: string }, deviceId = device): string => `${url}/onboard?deviceId=${deviceId}`;

/** The one phone of the file: a page of its own takes three times as long. */
let phone: Page;
const ends: (() => void | Promise<void>)[] = [];
beforeAll(async () => {
  if (!isSkipped) phone = await openPhone('about:blank', {}, (end) => ends.push(end));
});
afterAll(async () => {
  for (const end of ends) await end();
});
/** Opens an address on the phone, which remembers nothing of before. */
const visit = async (url: string): Promise<Page> => {
  await phone.unrouteAll();
  await phone.context().setOffline(false);
  const forget = (): void => {
    localStorage.clear();
    sessionStorage.clear();
  };
  // An empty page has nothing to forget.
  await phone.evaluate(forget).catch(() => {});
  await phone.goto(url);
  return phone;
};
const openForm = async (service: TestService): Promise<Page> => {
  await showUp(service, device);
  return visit(formOf(service));
};
const bind = (service: TestService, binding: Record<string, unknown>) =>
  bindDevice(service, { deviceId: device, ...binding });
const countOf = async (service: TestService): Promise<number> =>
  (await (await service.get('/api/onboarding/screens')).json()).screens.length;
/** Puts other content in its place until the case is over. */
const change = async (service: TestService, next: { screens: object[]; playlists: object[] }): Promise<void> => {
  const write = (each: typeof next): Promise<void> => {
    service.writeContent(each);
    return expect.poll(() => countOf(service), { interval: 100 }).toBe(each.screens.length);
  };
  onTestFinished(() => write(content));
  await write(next);
};
const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name }).tap();

describeBrowser('the form', () => {
  const reachable = shareReachable();
  beforeEach(() => {
    devices += 1;
    device = `device-of-case-${devices}`;
  });

  it('says beside each field what is missing, and leads there', async () => {
    // The names of other players would change what is suggested.
    const service = await startReachable();
    const phone = await openForm(service);
    await press(phone, 'Start playing');
    await phone.getByText('Choose a screen.').waitFor();
    expect(await phone.locator('#screens').getAttribute('aria-invalid')).toBe('true');
    expect(await phone.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('screen');

    await phone.getByText('Lobby').tap();
    expect(await phone.getByText('Choose a screen.').isVisible()).toBe(false);
    expect(await phone.getByLabel('Name of the player').inputValue()).toBe('Lobby');
    await phone.getByLabel('Name of the player').fill('  ');
    await press(phone, 'Start playing');
    await phone.getByText('Give the player a name').waitFor();
    expect(await phone.evaluate(() => document.activeElement?.id)).toBe('name');
  });

  it('suggests a name by the screen, until there is one', async () => {
    // The names of other players would change what is suggested.
    const service = await startReachable();
    const phone = await openForm(service);
    const name = phone.getByLabel('Name of the player');
    await phone.getByText('Lobby').tap();
    await phone.getByText('Gate 4').tap();
    expect(await name.inputValue()).toBe('Gate 4');
    await name.fill('North wall');
    await phone.getByText('Lobby').tap();
    expect(await name.inputValue()).toBe('North wall');
  });

  it('keeps the name and the screen of a bound device, and asks before its name changes', async () => {
    const service = reachable();
    await bind(service, { screenSlug: 'cafe' });
    const phone = await openForm(service);
    await phone.getByText('“Front desk” shows “Café” now.').waitFor();
    expect(await phone.getByRole('radio', { name: 'Café' }).isChecked()).toBe(true);
    await phone.getByLabel('Name of the player').fill('Counter');
    await press(phone, 'Start playing');
    await phone.getByText('It is called “Front desk” now. Change its name to “Counter”?').waitFor();
    await press(phone, 'Yes, change it');
    await phone.getByText('“Counter” isn’t connected at the moment').waitFor();
  });

  it('asks for the id where the address has none, and takes it as it is read off', async () => {
    const { url } = reachable();
    const phone = await visit('about:blank');
    for (const path of ['/onboard', '/onboard?deviceId=']) {
      await phone.goto(url + path);
      await phone.getByText('The address doesn’t say which player to set up.').waitFor();
      await phone.getByLabel('Id of the player').fill(' k7qm 3x9f ');
      await press(phone, 'Next');
      await phone.getByText('Player k7qm3x9f').waitFor();
    }
  });

  it('has no choice under its button where letters are twice as large', async () => {
    const service = reachable();
    const phone = await openForm(service);
    await phone.addStyleTag({ content: 'html { font-size: 212.5% }' });
    const choice = phone.getByText('Gate 4');
    await choice.scrollIntoViewIfNeeded();
    const { bottom } = await choice.evaluate((element) => element.getBoundingClientRect().toJSON());
    const { top } = await phone
      .locator('.act')
      .first()
      .evaluate((element) => element.getBoundingClientRect().toJSON());
    expect(top).toBeGreaterThanOrEqual(bottom);
  });

  it('has choices that the browser itself draws where the person has colours of their own', async () => {
    const phone = await openForm(reachable());
    await phone.emulateMedia({ forcedColors: 'active' });
    onTestFinished(() => phone.emulateMedia({ forcedColors: 'none' }));
    const drawn = await phone
      .locator('.choice input')
      .first()
      .evaluate((choice) => getComputedStyle(choice).appearance);
    expect(drawn).toBe('auto');
  });

  it('says that an id is wrong, and not that there is none', async () => {
    const service = reachable();
    const phone = await visit(formOf(service, 'a/b'));
    await phone.getByText('This id can’t be right.').waitFor();
    expect(await phone.getByText('The address doesn’t say').isVisible()).toBe(false);
    expect(await phone.getByLabel('Id of the player').inputValue()).toBe('a/b');
  });

  it('has a search where there are many screens, which knows no accents', async () => {
    const many = ['Café Nord', ...Array.from({ length: 8 }, (_, index) => `Room ${index}`)];
    const service = reachable();
    await change(service, { ...content, screens: many.map((name, index) => ({ name, slug: `screen-${index}` })) });
    const phone = await openForm(service);
    const rows = phone.locator('.choice:visible');
    await expect.poll(() => rows.count()).toBe(9);
    await phone.getByLabel('Search screens').fill('CAFE');
    expect(await rows.allTextContents()).toStrictEqual(['Café Nord']);
    await phone.getByText('Café Nord').tap();
    await phone.getByLabel('Search screens').fill('room 3');
    expect(await rows.allTextContents()).toStrictEqual(['Café Nord', 'Room 3']);
    await phone.getByLabel('Search screens').press('Enter');
    expect(await phone.getByRole('heading', { name: 'Set up this player' }).isVisible()).toBe(true);
  });

  it('has no search where there are few', async () => {
    const service = reachable();
    const phone = await openForm(service);
    await phone.getByText('Lobby').waitFor();
    expect(await phone.getByLabel('Search screens').isVisible()).toBe(false);
  });

  it('says that there is nothing to choose from, and tries again', async () => {
    const service = reachable();
    await change(service, { screens: [], playlists: [] });
    const phone = await openForm(service);
    await phone.getByRole('heading', { name: 'There are no screens' }).waitFor();
    await change(service, content);
    await press(phone, 'Try again');
    await phone.getByText('Lobby').waitFor();
  });

  it('offers other screens where the chosen one is gone', async () => {
    const service = reachable();
    const phone = await openForm(service);
    await phone.getByText('Lobby').tap();
    await change(service, { ...content, screens: content.screens.slice(1) });
    await press(phone, 'Start playing');
    await phone.getByText('This screen is no longer there.').waitFor();
    expect(await phone.locator('.choice').allTextContents()).toStrictEqual(['Café', 'Gate 4']);
    await phone.getByText('Gate 4').tap();
    await press(phone, 'Start playing');
    await phone.getByRole('heading', { name: 'Saved' }).waitFor();
  });

  it('says that there is nothing to choose from any more, where every screen is gone', async () => {
    const service = reachable();
    const phone = await openForm(service);
    await phone.getByText('Lobby').tap();
    await change(service, { screens: [], playlists: [] });
    await press(phone, 'Start playing');
    await phone.getByRole('heading', { name: 'There are no screens' }).waitFor();
  });

  it('suggests a name that no player of the screen has', async () => {
    // The names of other players would change what is suggested.
    const service = await startReachable();
    await joinScreen(service, 'lobby', { deviceId: 'device-2', clientName: 'Lobby' });
    await joinScreen(service, 'lobby', { deviceId: 'device-3', clientName: 'Lobby 3' });
    const phone = await openForm(service);
    await phone.getByText('Lobby').tap();
    const suggested = () => phone.getByLabel('Name of the player').inputValue();
    await expect.poll(suggested, patience).toBe('Lobby 2');
  });

  it('goes back to the form from the question and from the end', async () => {
    const service = reachable();
    await bind(service, { screenSlug: 'cafe' });
    const phone = await openForm(service);
    await phone.getByText('Lobby').tap();
    await press(phone, 'Start playing');
    await phone.getByText('It shows “Café” now. Change it to “Lobby”?').waitFor();
    await phone.goBack();
    await phone.getByRole('heading', { name: 'Set up this player' }).waitFor();
    expect(await phone.getByRole('radio', { name: 'Lobby' }).isChecked()).toBe(true);
    await press(phone, 'Start playing');
    await press(phone, 'Yes, change it');
    await phone.getByRole('heading', { name: 'Saved' }).waitFor();
    await phone.goBack();
    await phone.getByText('“Front desk” shows “Lobby” now.').waitFor();
  });

  it('shows no dead form where somebody goes back from the end to a player that is away, and on again', async () => {
    const service = reachable();
    const phone = await openForm(service);
    await phone.getByText('Lobby').tap();
    await press(phone, 'Start playing');
    await phone.getByRole('heading', { name: 'Saved' }).waitFor();
    await phone.route('**/api/onboarding/**', (route) => route.abort());
    await phone.goBack();
    const away = phone.getByRole('heading', { name: 'The player doesn’t answer' });
    await away.waitFor();
    await phone.goForward();
    expect(await phone.evaluate(() => history.state)).toBe('beyond');
    expect(await away.isVisible()).toBe(true);
  });

  it('stays on a phone that was given the address of the form on the player itself', async () => {
    const service = reachable();
    await showUp(service, device);
    const phone = await visit(`${formOf(service)}#here`);
    await phone.getByText('Lobby').tap();
    await press(phone, 'Start playing');
    await phone.getByRole('heading', { name: 'Saved' }).waitFor();
  });

  it('says that the phone is offline, keeps what was filled in, and goes on', async () => {
    const service = reachable();
    const phone = await openForm(service);
    await phone.getByText('Lobby').tap();
    await phone.context().setOffline(true);
    await press(phone, 'Start playing');
    await phone.getByRole('alert').getByText('Your phone is offline.').waitFor();
    await phone.context().setOffline(false);
    await phone.locator('#form-error').waitFor({ state: 'hidden' });
    await press(phone, 'Start playing');
    await phone.getByRole('heading', { name: 'Saved' }).waitFor();
  });

  it('says that the player does not answer, and tries again', async () => {
    const service = reachable();
    const phone = await openForm(service);
    await phone.route('**/api/onboarding/**', (route) => route.abort());
    await phone.reload();
    await phone.getByRole('heading', { name: 'The player doesn’t answer' }).waitFor();
    await phone.unrouteAll();
    await press(phone, 'Try again');
    await phone.getByText('Lobby').waitFor();
  });

  it('says in plain words what went wrong on the player', async () => {
    const service = reachable();
    const phone = await openForm(service);
    await phone.getByText('Lobby').tap();
    for (const [status, code, words] of [
      [507, 'insufficient_storage', 'The player’s disk is full. Free some space first. Nothing was saved.'],
      [429, 'too_many_requests', 'Too many attempts. Wait a minute. Nothing was saved.'],
      [500, 'internal_error', 'Something went wrong on the player. Nothing was saved.'],
    ] as const) {
      const answer = { status, json: { error: { code, message: 'x' } } };
      await phone.route('**/api/onboarding', (route) => route.fulfill(answer));
      await press(phone, 'Start playing');
      await phone.getByRole('alert').getByText(words).waitFor();
      await phone.unrouteAll();
    }
  });

  it('asks before it binds an id that no player has been here with', async () => {
    const service = reachable();
    const phone = await visit(formOf(service, '4K7QM3X9FT2WD0AY'));
    await phone.getByText('This player has not been seen yet.').waitFor();
    await phone.getByText('Lobby').tap();
    await press(phone, 'Start playing');
    await phone.getByRole('heading', { name: 'Is this id right?' }).waitFor();
    expect(
      await service.get('/api/onboarding/status?deviceId=4K7QM3X9FT2WD0AY').then((answer) => answer.json()),
    ).toMatchObject({ onboarded: false });
    await press(phone, 'Correct the id');
    await showUp(service, '4K7QM3X9FT2WD0AZ');
    await phone.getByLabel('Id of the player').fill('4k7q m3x9 ft2w d0az');
    await press(phone, 'Next');
    await phone.getByText(/Player 4K7Q-M3X9-FT2W-D0AZ/).waitFor();
    expect(await phone.getByText('This player has not been seen yet.').isVisible()).toBe(false);
    await phone.getByText('Lobby').tap();
    await press(phone, 'Start playing');
    await phone.getByRole('heading', { name: 'Saved' }).waitFor();
  });

  it('binds an id that no player has been here with, once it is told that the id is right', async () => {
    // The names of other players would change what is suggested.
    const service = await startReachable();
    const phone = await visit(formOf(service));
    await phone.getByText('Lobby').tap();
    await press(phone, 'Start playing');
    await press(phone, 'It’s right, save it');
    await phone.getByRole('heading', { name: 'Saved' }).waitFor();
    await press(phone, 'Change something');
    await phone.getByText('“Lobby” shows “Lobby” now.').waitFor();
  });

  it('takes the notice back as soon as the player is there', async () => {
    const service = reachable();
    const phone = await visit(formOf(service));
    const notice = phone.getByText('This player has not been seen yet.');
    await notice.waitFor();
    await showUp(service, device);
    await notice.waitFor({ state: 'hidden' });
  });

  it('says that nothing was saved where the player dies before it has', async () => {
    const service = await startReachable();
    const { port } = new URL(service.url);
    const phone = await openForm(service);
    await phone.getByText('Lobby').tap();
    await phone.route('**/api/onboarding', async (route) => {
      await service.close();
      await route.abort();
    });
    await press(phone, 'Start playing');
    await phone.getByRole('alert').getByText('The player stopped answering').waitFor();
    const again = await startReachable({ SIGNAGE_PORT: port }, { dataDir: service.dataDir });
    await phone.getByRole('alert').getByText('Nothing was saved.').waitFor();
    await phone.unrouteAll();
    await showUp(again, device);
    await press(phone, 'Start playing');
    await phone.getByRole('heading', { name: 'Saved' }).waitFor();
  });

  it('says that it was saved where the player dies before it could say so', async () => {
    const service = await startReachable();
    const { port } = new URL(service.url);
    const phone = await openForm(service);
    await phone.getByText('Lobby').tap();
    await phone.route('**/api/onboarding', async (route) => {
      await route.fetch();
      await service.close();
      await route.abort();
    });
    await press(phone, 'Start playing');
    await phone.getByRole('alert').getByText('The player stopped answering').waitFor();
    await startReachable({ SIGNAGE_PORT: port }, { dataDir: service.dataDir });
    await phone.getByRole('heading', { name: 'Saved' }).waitFor();
    await phone.getByText('but your choice was saved').waitFor();
  });

  it.each(['light', 'dark'] as const)('can be touched and read: %s', async (colorScheme) => {
    const service = reachable();
    const phone = await openOther(service, device, { colorScheme, viewport: { width: 320, height: 568 } });
    await phone.getByText('Lobby').waitFor();
    const sizes = await phone
      .locator('button:visible, .choice:visible, input:not([type=radio]):visible')
      .evaluateAll((elements) => elements.map((element) => element.getBoundingClientRect().height));
    expect(sizes.length).toBeGreaterThan(4);
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(44);
    expect(await phone.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
    const contrasts = await phone.evaluate(contrastsOf, 'h1, p, legend, label, .choice span, .hint, button');
    expect(Math.min(...contrasts)).toBeGreaterThanOrEqual(4.5);
  });
});

/** WCAG 2.2 contrast of the texts that are visible, each against the nearest ground that is painted. Runs in the page. */
const contrastsOf = (selector: string): number[] => {
  const parse = (colour: string): number[] => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (colour: number[]): number => {
    const [red = 0, green = 0, blue = 0] = colour
      .slice(0, 3)
      .map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ground = (element: Element | null): number[] => {
    if (element === null) return [255, 255, 255];
    const colour = parse(getComputedStyle(element).backgroundColor);
    return colour[3] === 0 ? ground(element.parentElement) : colour;
  };
  return Array.from(document.querySelectorAll<HTMLElement>(selector))
    .filter((element) => element.offsetParent !== null && element.textContent?.trim() !== '')
    .map((element) => {
      const [a, b] = [luminance(parse(getComputedStyle(element).color)), luminance(ground(element))];
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    });
};
