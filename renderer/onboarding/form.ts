/** The onboarding form, on the installer's phone. */
import type { Binding, OnboardingResult } from '../../service/contract/onboarding.ts';
import type { PageBoot } from '../../service/contract/page.ts';
import type { Screen } from '../../service/contract/playlist.ts';
import { deviceKey } from '../../service/contract/readable.ts';
import { readBoot } from '../shared/boot.ts';
import { isOwnDevice } from '../shared/identity.ts';
import { leaveFor } from '../shared/leave.ts';
import { createPageToken } from '../shared/page-token.ts';
import { requireTopLevel } from '../shared/top-level.ts';
import { createApi, isRefusal, type Status } from './api.ts';
import { createChoices } from './choices.ts';
import { element, on } from './element.ts';
import { createMessages } from './messages.ts';
import { suggestName } from './name.ts';
import { findOutcome } from './outcome.ts';
import { loadTexts } from './texts.ts';
import { createViews, type View } from './views.ts';
import { whenAlone } from './visitor.ts';

requireTopLevel();

/** On the player itself an idle form returns to the QR code. */
const ALONE_MS = 5 * 60_000;
/** Another phone may bind the same player meanwhile. */
const LOOK_MS = 3_000;
/** The views that follow the status of the player. */
const followed: readonly View[] = ['form', 'unknown', 'rebind', 'done'];

const texts = loadTexts(document, navigator.languages);
const api = createApi(createPageToken(readBoot<PageBoot>(document).pageToken, location.href));
const deviceId = new URLSearchParams(location.search).get('deviceId') ?? '';
/**
 * The landing page led here, in the browser that is the player, so that it continues to the screen. A phone that opens the
 * same URL does not become a player.
 */
const isPlayer = location.hash === '#here' && isOwnDevice(deviceId);

const { complain, say, conclude, reason } = createMessages(texts);
const name = element<HTMLInputElement>('name');
const views = createViews(document, (from) => {
  if (from === 'done') void load();
  else views.show('form');
});
let status: Status | undefined;
let isBusy = false;
let isQueued = false;

/** The suggested name of the player. */
const suggest = async (screen: Screen): Promise<void> => {
  complain('screens');
  const isWanted = (): boolean => name.dataset.given === undefined && choices.chosen === screen;
  const fill = (taken: readonly (string | null)[]): void => {
    name.value = suggestName(screen.name, new Set(taken), name.maxLength);
    complain('name');
  };
  if (!isWanted()) return;
  fill([]);
  const { connections } = await api.players(screen.slug).catch(() => ({ connections: [] }));
  const others = connections.filter((player) => player.deviceId !== deviceId);
  if (isWanted() && document.activeElement !== name) fill(others.map(({ clientName }) => clientName));
};
const choices = createChoices((screen) => void suggest(screen));

const askForScreen = (complaint: string): void => {
  complain('screens', complaint);
  choices.focus();
  element('screens-error').scrollIntoView({ block: 'nearest' });
};

const askForName = (): void => {
  complain('name', texts.chooseName);
  name.focus();
  element('name-error').scrollIntoView({ block: 'nearest' });
};

const correctId = (): void => {
  views.show('device');
  element<HTMLInputElement>('device').value = deviceId;
  element('no-device').hidden = true;
  element('device').focus();
};

const askForDevice = (): void => {
  views.show('device');
  element<HTMLInputElement>('device').value = deviceId;
  element('no-device').hidden = deviceId !== '';
  if (deviceId !== '') complain('device', texts.badDevice);
};

/** Applies the status of the player. */
const learn = (current: Status): void => {
  status = current;
  element('unseen').hidden = current.isKnown;
  const { screenName, clientName } = current;
  element('subject').textContent =
    screenName === null || clientName === null
      ? texts.player({ deviceId })
      : texts.bound({ screen: screenName, name: clientName });
};

/** Fetches and shows the screens. */
const load = async (): Promise<void> => {
  if (deviceId === '') return askForDevice();
  views.show('loading');
  try {
    const [current, { screens }] = await Promise.all([api.status(deviceId), api.screens()]);
    learn(current);
    choices.fill(screens, current.screenSlug);
    if (current.clientName !== null) {
      name.value = current.clientName;
      name.dataset.given = '';
    } else if (choices.chosen !== undefined) void suggest(choices.chosen);
    views.show(screens.length === 0 ? 'empty' : 'form');
  } catch (error) {
    if (isRefusal(error) && error.field === 'deviceId') return askForDevice();
    element('away-reason').textContent = reason(error);
    views.show('away');
  }
};

const refuse = async (error: unknown): Promise<void> => {
  await views.goBack();
  if (isRefusal(error) && error.field === 'screenSlug') {
    const { screens } = await api.screens();
    choices.fill(screens, null);
    if (screens.length === 0) return views.show('empty');
    askForScreen(texts.screenGone);
  } else if (isRefusal(error) && error.field === 'clientName') askForName();
  else say(`${reason(error)} ${texts.notSaved}`);
};

const work = (isWorking: boolean): void => {
  isBusy = isWorking;
  for (const id of ['bind', 'rebind', 'sure'] as const) {
    element<HTMLButtonElement>(id).disabled = isWorking;
    element(id).textContent = isWorking ? texts.binding : texts.plain[id];
  }
};

/** Asks before a player changes its screen. */
const ask = (from: string, to: string): void => {
  element('rebind-question').textContent = texts.rebindQuestion({ from, to });
  views.goOn('rebind');
};

/** Asks before an unknown device id is bound. */
const askAboutId = (): void => {
  element('unknown-id').textContent = deviceId;
  views.goOn('unknown');
};

const finish = async ({ queued, ...bound }: OnboardingResult): Promise<void> => {
  learn({ ...bound, onboarded: true, isKnown: true });
  if (isPlayer && (await leaveFor(`/screen/${bound.screenSlug}`))) return;
  isQueued = queued;
  if (queued) conclude(texts.savedTitle, texts.queued({ name: bound.clientName }));
  else conclude(texts.doneTitle({ screen: bound.screenName }), texts.done({ name: bound.clientName }));
  views.goOn('done');
};

/** The values of the form; null if one is missing, with a message beside it. */
const read = (): { clientName: string; screen: Screen } | null => {
  const screen = choices.chosen;
  const clientName = name.value.trim();
  say('');
  if (screen !== undefined && clientName !== '') return { clientName, screen };
  if (screen === undefined) askForScreen(texts.chooseScreen);
  else askForName();
  return null;
};

/** Reports the outcome if there was no response: the binding may have been saved. */
const settle = async (binding: Binding, error: unknown): Promise<void> => {
  await views.goBack();
  const { isSaved, status: current } = await findOutcome(api, binding, () => say(texts.unsure));
  learn(current);
  if (!isSaved) return say(isRefusal(error) ? `${reason(error)} ${texts.notSaved}` : texts.notSaved);
  say('');
  if (isPlayer && (await leaveFor(`/screen/${binding.screenSlug}`))) return;
  conclude(texts.savedTitle, texts.saved({ screen: current.screenName ?? '', name: binding.clientName }));
  views.goOn('done');
};

const bind = async (binding: Binding): Promise<void> => {
  try {
    await finish(await api.bind(binding));
  } catch (error) {
    const isRefused = isRefusal(error) && error.code !== 'internal_error';
    await (isRefused ? refuse(error) : settle(binding, error));
  }
};

/** @param agreed the questions that were answered already: a change of screen, an unknown id */
const submit = async (agreed: { left?: string | null; isSure?: true } = {}): Promise<void> => {
  const given = read();
  if (given === null || isBusy) return;
  const { clientName, screen } = given;
  work(true);
  try {
    const current = await api.status(deviceId);
    learn(current);
    if (!current.isKnown && !agreed.isSure) askAboutId();
    else if (current.screenName === null || [screen.slug, agreed.left].includes(current.screenSlug))
      await bind({ deviceId, clientName, screenSlug: screen.slug });
    else ask(current.screenName, screen.name);
  } catch (error) {
    await refuse(error).catch(() => {
      say(`${reason(undefined)} ${texts.notSaved}`);
    });
  } finally {
    work(false);
  }
};

/** Follows changes that others make. */
const look = async (): Promise<void> => {
  const known = status;
  if (document.hidden || isBusy || known === undefined || !followed.includes(views.current)) return;
  const current = await api.status(deviceId).catch(() => known);
  // A newer status may have arrived meanwhile.
  if (isBusy || status !== known) return;
  const isBoundAlike = current.screenSlug === known.screenSlug && current.clientName === known.clientName;
  if (isBoundAlike && current.isKnown === known.isKnown) return;
  if (!isBoundAlike && isPlayer && (await leaveFor('/'))) return;
  learn(current);
  const { screenName, clientName } = current;
  if (views.current === 'form') return;
  if (views.current !== 'done' || screenName === null || clientName === null) return void views.goBack();
  if (isQueued) conclude(texts.savedTitle, texts.queued({ name: clientName }));
  else conclude(texts.doneTitle({ screen: screenName }), texts.changed({ name: clientName }));
};

on('form', 'submit', () => void submit());
on('rebind', 'click', () => void submit({ left: status?.screenSlug ?? null }));
on('sure', 'click', () => void submit({ isSure: true }));
on('keep', 'click', () => void views.goBack());
on('change', 'click', () => void views.goBack());
on('device-form', 'submit', () => {
  // The display shows it in groups.
  const typed = deviceKey(element<HTMLInputElement>('device').value.replace(/\s/g, ''));
  location.search = `?deviceId=${encodeURIComponent(typed)}`;
});
name.addEventListener('input', () => {
  complain('name');
  if (name.value === '') delete name.dataset.given;
  else name.dataset.given = '';
});
for (const retry of document.querySelectorAll('.retry')) retry.addEventListener('click', () => void load());
for (const correct of document.querySelectorAll('.correct')) correct.addEventListener('click', correctId);
addEventListener('offline', () => {
  if (!isBusy) say(texts.offline);
});
addEventListener('online', () => {
  if (!isBusy) say('');
  if (views.current === 'away') void load();
});
setInterval(() => void look(), LOOK_MS);
if (isPlayer) whenAlone(ALONE_MS, () => void leaveFor('/'));
document.addEventListener('visibilitychange', () => void look());

void load();
