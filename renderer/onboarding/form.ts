/** The onboarding form, on the installer's phone. */
import type { Binding, claimHeader, OnboardingResult } from '../../service/contract/onboarding.ts';
import type { PageBoot } from '../../service/contract/page.ts';
import type { Screen } from '../../service/contract/playlist.ts';
import { canonicalClaim, canonicalDeviceId, shownDeviceId } from '../../service/contract/readable.ts';
import { readBoot, requireTopLevel } from '../shared/boot.ts';
import { createDevice, isOwnDevice } from '../shared/device.ts';
import { element, on } from '../shared/elements.ts';
import { suggestName } from '../shared/name.ts';
import { createPageToken } from '../shared/page-token.ts';
import { leaveFor } from '../shared/retry.ts';
import { type Api, createApi, isRefusal, type Status } from './api.ts';
import { createChoices } from './choices.ts';
import { loadTexts, type Texts } from './texts.ts';
import { createViews, type View } from './views.ts';
import { whenAlone } from './visitor.ts';

const RETRY_MS = 1_000;

// Typed by the contract, but not imported, so that a phone does not load its schemas.
const codeHeader: typeof claimHeader = 'x-signage-claim';

/**
 * Finds out whether a binding without a response was saved: repeats the request until the player responds.
 * @param onAway called after each failure
 */
const findOutcome = async (
  api: Pick<Api, 'status'>,
  { deviceId, clientName, screenSlug }: Binding,
  onAway: () => void,
): Promise<{ isSaved: boolean; status: Status }> => {
  for (;;) {
    const status = await api.status(deviceId).catch(onAway);
    if (status) {
      return { isSaved: status.screenSlug === screenSlug && status.clientName === clientName, status };
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
};

const createMessages = (texts: Texts) => ({
  /** Shows an error beside a field; an empty text removes it. */
  complain: (field: 'screens' | 'name' | 'device' | 'claim', text = ''): void => {
    element(`${field}-error`).textContent = text;
    if (text === '') element(field).removeAttribute('aria-invalid');
    else element(field).setAttribute('aria-invalid', 'true');
  },
  /** Shows a message about the whole form beside its button. */
  say: (text: string): void => {
    element('form-error').textContent = text;
  },
  /** Fills in the last view. */
  conclude: (title: string, text: string): void => {
    element('done-title').textContent = title;
    element('done').textContent = text;
  },
  /** The reason why a request failed, as a sentence. */
  reason: (error: unknown): string => {
    if (!isRefusal(error)) return navigator.onLine ? texts.unreachable : texts.offline;
    if (error.code === 'insufficient_storage') return texts.diskFull;
    if (error.code === 'too_many_requests') return texts.tooMany;
    return texts.fault;
  },
});

requireTopLevel();

/** On the player itself an idle form returns to the QR code. */
const ALONE_MS = 5 * 60_000;
/** How soon and how often it is asked whether the display has connected; later it is asked with its status. */
const ANSWER_MS = 300;
const ANSWERS = 10;
/** Another phone may bind the same player meanwhile. */
const LOOK_MS = 3_000;
/** On the player itself the code counts for as long as its page asks for it, which the landing page has done until now. */
const CODE_MS = 20_000;
/** The views that follow the status of the player. */
const followed: readonly View[] = ['form', 'unknown', 'question', 'claim', 'done'];

const texts = loadTexts(document, navigator.languages);
const query = new URLSearchParams(location.search);
const deviceId = query.get('deviceId') ?? '';
/** The code that the display shows; null: it is asked for where one is needed. It does not stay in the address bar. */
let claim = query.get('claim');
query.delete('claim');
history.replaceState(history.state, '', `${location.pathname}?${query}${location.hash}`);
const boot = readBoot<PageBoot>(document);
const token = createPageToken(boot.pageToken, location.href);
const api = createApi(token);
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
interface Agreed {
  isSure?: boolean;
  /** The screen that it leaves. */
  left?: string | null;
  /** The name that it gets in place of another, or although another player has it. */
  rename?: string;
  same?: string;
}

let status: Status | undefined;
let isBusy = false;
/** The binding that the display has not answered yet; null: there is none. */
let unanswered: Binding | null = null;
/** What the user has agreed to in this submission. */
let agreed: Agreed = {};
/** What the user is asked to agree to, and the text of its button, which is shown once the form works no longer. */
let asked: { yes: string; agreement: Agreed } = { yes: '', agreement: {} };
/** Names that other devices have. */
let taken: ReadonlySet<string | null> = new Set();

/** Learns the names of other devices, and of the pages of a screen that are no devices yet. */
const learnNames = async (screen: Screen): Promise<void> => {
  const [{ names }, { connections }] = await Promise.all([
    api.names(deviceId).catch(() => ({ names: [] })),
    api.players(screen.slug).catch(() => ({ connections: [] })),
  ]);
  const others = connections.filter(
    (player) => canonicalDeviceId(player.deviceId ?? '') !== canonicalDeviceId(deviceId),
  );
  taken = new Set([...names, ...others.map(({ clientName }) => clientName)]);
};

/** The suggested name of the player. */
const suggest = async (screen: Screen): Promise<void> => {
  complain('screens');
  const isWanted = (): boolean => name.dataset.given === undefined && choices.chosen === screen;
  const fill = (): void => {
    name.value = suggestName(screen.name, taken, name.maxLength);
    complain('name');
  };
  if (!isWanted()) return;
  fill();
  await learnNames(screen);
  if (isWanted() && document.activeElement !== name) fill();
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
  element<HTMLInputElement>('device').value = shownDeviceId(deviceId);
  element('no-device').hidden = true;
  element('device').focus();
};

const askForDevice = (): void => {
  views.show('device');
  element<HTMLInputElement>('device').value = shownDeviceId(deviceId);
  element('no-device').hidden = deviceId !== '';
  if (deviceId !== '') complain('device', texts.badDevice);
};

/** @param isWrong the code that was sent is not that of the display */
const askForClaim = (isWrong: boolean): void => {
  views.goOn('claim');
  const complaint = isWrong && claim !== null ? texts.claimWrong : '';
  complain('claim', status?.onboarded ? texts.claimBound : complaint);
  element<HTMLInputElement>('claim').value = '';
  element('claim').focus();
};

/** Applies the status of the player. */
const learn = (current: Status): void => {
  status = current;
  element('unseen').hidden = current.isKnown;
  const { screenName, clientName } = current;
  element('subject').textContent =
    screenName === null || clientName === null
      ? texts.player({ deviceId: shownDeviceId(deviceId) })
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
  else if (isRefusal(error) && /^claim_/.test(error.code)) askForClaim(error.code === 'claim_invalid');
  else say(`${reason(error)} ${texts.notSaved}`);
};

const work = (isWorking: boolean): void => {
  isBusy = isWorking;
  for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-works]')) {
    button.disabled = isWorking;
    const text = button.id === 'yes' ? asked.yes : texts.plain[button.dataset.text as keyof typeof texts.plain];
    button.textContent = isWorking ? texts.binding : text;
  }
};

/** Asks before a player changes its screen or name, or gets one that another player has. */
const ask = (about: 'rebind' | 'rename' | 'same', question: string, agreement: Agreed): void => {
  const { title, yes } = texts.questions[about];
  element('question-title').textContent = title;
  element('question').textContent = question;
  asked = { yes, agreement };
  views.goOn('question');
};

/** Asks before an unknown device id is bound. */
const askAboutId = (): void => {
  element('unknown-id').textContent = shownDeviceId(deviceId);
  views.goOn('unknown');
};

/** Says that the display is on, once it has connected; until then that its setting is saved. */
const sayWhetherOn = async (binding: Binding, screenName: string): Promise<void> => {
  const { connections } = await api.players(binding.screenSlug).catch(() => ({ connections: [] }));
  if (unanswered !== binding) return;
  if (!connections.some((player) => canonicalDeviceId(player.deviceId ?? '') === canonicalDeviceId(deviceId))) return;
  unanswered = null;
  conclude(texts.doneTitle({ screen: screenName }), texts.done({ name: binding.clientName }));
};

const finish = async (binding: Binding, { queued, ...bound }: OnboardingResult): Promise<void> => {
  learn({ ...bound, onboarded: true, isKnown: true });
  if (isPlayer && (await leaveFor(`/screen/${bound.screenSlug}`))) return;
  unanswered = binding;
  const name = bound.clientName;
  conclude(texts.savedTitle, queued ? texts.queued({ name }) : texts.unanswered({ name }));
  views.goOn('done');
  for (let left = ANSWERS; left > 0 && unanswered === binding; left--) {
    await sayWhetherOn(binding, bound.screenName);
    await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
  }
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
    void finish(binding, await api.bind(binding, claim));
  } catch (error) {
    const isRefused = isRefusal(error) && error.code !== 'internal_error';
    await (isRefused ? refuse(error) : settle(binding, error));
  }
};

/** What is asked before a binding is saved; null: nothing. */
const questionOf = (current: Status, { clientName, screen }: { clientName: string; screen: Screen }) => {
  const { screenName, screenSlug, clientName: before } = current;
  if (!current.isKnown && !agreed.isSure) return askAboutId;
  if (screenName !== null && ![screen.slug, agreed.left].includes(screenSlug)) {
    return () => ask('rebind', texts.rebindQuestion({ from: screenName, to: screen.name }), { left: screenSlug });
  }
  if (before !== null && before !== clientName && agreed.rename !== clientName) {
    return () => ask('rename', texts.renameQuestion({ from: before, to: clientName }), { rename: clientName });
  }
  if (taken.has(clientName) && before !== clientName && agreed.same !== clientName) {
    return () => ask('same', texts.sameQuestion({ name: clientName }), { same: clientName });
  }
  return null;
};

const submit = async (more: Agreed = {}): Promise<void> => {
  const given = read();
  if (given === null || isBusy) return;
  const { clientName, screen } = given;
  agreed = { ...agreed, ...more };
  work(true);
  try {
    const [current] = await Promise.all([api.status(deviceId), learnNames(screen)]);
    learn(current);
    const question = questionOf(current, given);
    if (question === null) await bind({ deviceId, clientName, screenSlug: screen.slug });
    else question();
  } catch (error) {
    await refuse(error).catch(() => {
      say(`${reason(error)} ${texts.notSaved}`);
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
  if (unanswered !== null) await sayWhetherOn(unanswered, current.screenName ?? '');
  const isBoundAlike = current.screenSlug === known.screenSlug && current.clientName === known.clientName;
  if (isBoundAlike && current.isKnown === known.isKnown) return;
  if (!isBoundAlike && isPlayer && (await leaveFor('/'))) return;
  learn(current);
  const { screenName, clientName } = current;
  if (views.current === 'form') return;
  if (views.current !== 'done' || screenName === null || clientName === null) return void views.goBack();
  unanswered = null;
  conclude(texts.savedTitle, texts.changed({ name: clientName }));
};

on('form', 'submit', () => {
  agreed = {};
  void submit();
});
on('claim-form', 'submit', () => {
  claim = canonicalClaim(element<HTMLInputElement>('claim').value);
  void submit();
});
on('yes', 'click', () => void submit(asked.agreement));
on('sure', 'click', () => void submit({ isSure: true }));
for (const keep of document.querySelectorAll('.keep')) keep.addEventListener('click', () => void views.goBack());
on('change', 'click', () => void views.goBack());
// A player that plays shows no code.
element('change').hidden = boot.pageToken !== null;
on('device-form', 'submit', () => {
  // The display shows it in groups.
  const typed = canonicalDeviceId(element<HTMLInputElement>('device').value.replace(/\s/g, ''));
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
if (isPlayer) {
  const device = createDevice(deviceId, boot);
  const keepCode = async (): Promise<void> => {
    const path = `/api/onboarding/status?deviceId=${encodeURIComponent(deviceId)}`;
    claim = (await device.fetch(path, token.header(), ({ headers }) => headers.get(codeHeader))) ?? claim;
  };
  if (boot.pageToken !== null) setInterval(() => void keepCode().catch(() => undefined), CODE_MS);
  whenAlone(ALONE_MS, () => void leaveFor('/'));
}
document.addEventListener('visibilitychange', () => void look());

void load();
