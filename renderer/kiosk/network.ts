/** The form over the Wi-Fi of the box itself: a phone names the Wi-Fi of the house. */
import './network.css';
import type { NetworkFault } from '../../service/contract/onboarding.ts';
import { loadTexts } from '../onboarding/texts.ts';
import { element } from '../shared/elements.ts';

const { wifi: texts, network } = loadTexts(document, navigator.languages, ({ wifi }) => wifi);
document.title = texts.title;

const list = element<HTMLSelectElement>('list');
const [ssid, password, country] = ['ssid', 'password', 'country'].map((id) => element<HTMLInputElement>(id)) as [
  HTMLInputElement,
  HTMLInputElement,
  HTMLInputElement,
];
const join = element<HTMLButtonElement>('join');
country.value = /-([A-Z]{2})\b/.exec(navigator.language)?.[1] ?? '';

const say = (id: 'fault' | 'before', text: string | null): void => {
  element(id).textContent = text;
  element(id).hidden = text === null;
};

const showOther = (): void => {
  element('other').hidden = list.value !== '';
};
list.addEventListener('change', showOther);

const load = async (): Promise<void> => {
  const shown = await fetch('/wifi')
    .then((answer) => answer.json() as Promise<{ networks: string[]; fault: NetworkFault | null }>)
    .catch(() => ({ networks: [], fault: null }));
  list.replaceChildren(...shown.networks.map((name) => new Option(name, name)), new Option(texts.another, ''));
  showOther();
  const { fault } = shown;
  say('before', fault === null ? null : texts.before({ sentence: network[fault.reason](fault) }));
};

const send = async (): Promise<void> => {
  join.disabled = true;
  say('fault', null);
  const wifi = {
    ssid: list.value || ssid.value,
    ...(password.value !== '' && { password: password.value }),
    ...(country.value !== '' && { country: country.value.toUpperCase() }),
  };
  try {
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch('/wifi', { method: 'POST', headers, body: JSON.stringify(wifi) });
    if (answer.ok) {
      element('form').hidden = true;
      element('done').hidden = false;
      return;
    }
    if (answer.status !== 400) throw new Error(`the player answers ${answer.status}`);
    const { field } = (await answer.json()) as { field: string };
    say('fault', { password: texts.badPassword, country: texts.badCountry }[field] ?? texts.badSsid);
  } catch {
    say('fault', texts.failed);
  }
  join.disabled = false;
};

element('form').addEventListener('submit', (event) => {
  event.preventDefault();
  void send();
});
void load();
