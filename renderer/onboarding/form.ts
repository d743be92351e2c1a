/** The onboarding form, on the phone of whoever sets a player up. */
import type { Binding, OnboardingStatus } from '../../service/wire/onboarding.ts';
import type { PageBoot } from '../../service/wire/page.ts';
import type { Screen } from '../../service/wire/playlist.ts';
import { readBoot } from '../shared/boot.ts';
import { createPageToken } from '../shared/page-token.ts';
import { createApi, isRefusal } from './api.ts';
import { createChoices } from './choices.ts';
import { element } from './element.ts';
import { speak } from './texts.ts';

type View = 'loading' | 'device' | 'away' | 'empty' | 'form' | 'rebind' | 'done';

const texts = speak(document, navigator.languages);
const api = createApi(createPageToken(readBoot<PageBoot>(document).pageToken, location.href));
const deviceId = new URLSearchParams(location.search).get('deviceId') ?? '';

const name = element<HTMLInputElement>('name');
const button = element<HTMLButtonElement>('bind');
let status: OnboardingStatus | undefined;
let view: View = 'loading';

/** Shows one view, and takes whoever hears the page instead of seeing it there. */
const show = (next: View): void => {
  view = next;
  for (const section of Array.from(document.querySelectorAll<HTMLElement>('[data-view]'))) {
    section.hidden = section.dataset.view !== next;
    if (!section.hidden) section.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
  }
  scrollTo(0, 0);
};

/** Says what is wrong with a field, beside it; nothing: all is well. */
const complain = (field: 'screens' | 'name' | 'device', complaint = ''): void => {
  element(`${field}-error`).textContent = complaint;
  if (complaint === '') element(field).removeAttribute('aria-invalid');
  else element(field).setAttribute('aria-invalid', 'true');
};

/** A name for the player, until somebody gives it another. */
const suggest = (screen: Screen): void => {
  complain('screens');
  if (name.dataset.given !== undefined) return;
  name.value = screen.name.slice(0, name.maxLength);
  complain('name');
};
const choices = createChoices(suggest);

const reason = (error: unknown): string => {
  if (!isRefusal(error)) return navigator.onLine ? texts.unreachable : texts.offline;
  if (error.code === 'insufficient_storage') return texts.diskFull;
  if (error.code === 'too_many_requests') return texts.tooMany;
  return texts.fault;
};

const askForDevice = (): void => {
  show('device');
  element<HTMLInputElement>('device').value = deviceId;
  if (deviceId !== '') complain('device', texts.badDevice);
};

/** Fetches what there is to choose from, and shows it. */
const load = async (): Promise<void> => {
  if (deviceId === '') return askForDevice();
  show('loading');
  try {
    const [current, { screens }] = await Promise.all([api.status(deviceId), api.screens()]);
    status = current;
    choices.fill(screens, current.screenSlug);
    if (current.clientName !== null) {
      name.value = current.clientName;
      name.dataset.given = '';
    } else if (choices.chosen !== undefined) suggest(choices.chosen);
    element('subject').textContent =
      current.screenName === null || current.clientName === null
        ? texts.player(deviceId)
        : texts.bound(current.screenName, current.clientName);
    show(screens.length === 0 ? 'empty' : 'form');
  } catch (error) {
    if (isRefusal(error) && error.field === 'deviceId') return askForDevice();
    element('away-reason').textContent = reason(error);
    show('away');
  }
};

const refuse = async (error: unknown): Promise<void> => {
  show('form');
  if (isRefusal(error) && error.field === 'screenSlug') {
    choices.fill((await api.screens()).screens, null);
    complain('screens', texts.screenGone);
    choices.focus();
  } else if (isRefusal(error) && error.field === 'clientName') {
    complain('name', texts.chooseName);
    name.focus();
  } else element('form-error').textContent = reason(error);
};

const bind = async (binding: Binding): Promise<void> => {
  show('form');
  button.disabled = true;
  button.textContent = texts.binding;
  try {
    const { screenName, clientName, queued } = await api.bind(binding);
    element('done-title').textContent = queued ? texts.queuedTitle : texts.doneTitle(screenName);
    element('done').textContent = queued ? texts.queued(clientName) : texts.done(clientName);
    show('done');
  } catch (error) {
    await refuse(error).catch(() => {
      element('form-error').textContent = reason(undefined);
    });
  } finally {
    button.disabled = false;
    button.textContent = texts.plain.bind;
  }
};

/** What the form says; null where something is missing, which is then said beside it. */
const read = (): { binding: Binding; screen: Screen } | null => {
  const screen = choices.chosen;
  const clientName = name.value.trim();
  element('form-error').textContent = '';
  if (screen === undefined) {
    complain('screens', texts.chooseScreen);
    choices.focus();
    return null;
  }
  if (clientName === '') {
    complain('name', texts.chooseName);
    name.focus();
    return null;
  }
  return { binding: { deviceId, clientName, screenSlug: screen.slug }, screen };
};

const submit = (): void => {
  const given = read();
  if (given === null) return;
  const { binding, screen } = given;
  if (status?.screenName == null || status.screenSlug === screen.slug) return void bind(binding);
  element('rebind-title').textContent = texts.rebindTitle(status.screenName, screen.name);
  show('rebind');
};

const on = (id: string, event: string, act: () => void): void =>
  element(id).addEventListener(event, (happening) => {
    happening.preventDefault();
    act();
  });

on('form', 'submit', submit);
on('keep', 'click', () => show('form'));
on('rebind', 'click', () => {
  const given = read();
  if (given !== null) void bind(given.binding);
});
on('device-form', 'submit', () => {
  // On the screen it stands in groups.
  const typed = element<HTMLInputElement>('device').value.replace(/\s/g, '');
  location.search = `?deviceId=${encodeURIComponent(typed)}`;
});
name.addEventListener('input', () => {
  complain('name');
  if (name.value === '') delete name.dataset.given;
  else name.dataset.given = '';
});
for (const retry of Array.from(document.querySelectorAll('.retry'))) retry.addEventListener('click', () => void load());
addEventListener('offline', () => {
  element('form-error').textContent = texts.offline;
});
addEventListener('online', () => {
  element('form-error').textContent = '';
  if (view === 'away') void load();
});

void load();
