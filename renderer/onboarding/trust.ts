/** The page that shows people how to install the root certificate of the site. */
import { languages, type Texts } from 'virtual:texts/trust';
import type { TrustBoot } from '../../service/contract/page.ts';
import { readBoot } from '../shared/boot.ts';
import { element, make } from '../shared/elements.ts';
import { textsFor } from '../texts/messages.ts';

type Plain = { [Name in keyof Texts]: Texts[Name] extends string ? Name : never }[keyof Texts];

/** Systems in the order of the page, and how their user agents are recognised; the first match is opened. */
const systems: readonly (readonly [name: keyof Texts['systems'], pattern: RegExp])[] = [
  ['firefox', /Firefox\//],
  ['android', /Android/],
  ['ios', /iPhone|iPad|iPod/],
  ['windows', /Windows/],
  ['macos', /Mac OS X/],
  ['linux', /Linux/],
];

const texts = textsFor<Texts>(languages, navigator.languages);
const { fingerprint, url, code, notAfter } = readBoot<TrustBoot>(document);

document.documentElement.lang = texts.tag;
document.title = texts.title;
for (const each of document.querySelectorAll<HTMLElement>('[data-trust]')) {
  each.textContent = texts[each.dataset['trust'] as Plain];
}

/** Pieces of four pairs, which people compare one by one. */
element('fingerprint').append(
  ...(fingerprint.match(/(?:[0-9A-F]{2}:?){1,4}/g) ?? []).map((piece) => make('span', '', piece)),
);
element('url').textContent = url;
element('remove').textContent = texts.remove({
  date: new Date(notAfter).toLocaleDateString(texts.tag, { dateStyle: 'long' }),
});
const picture = element<HTMLImageElement>('code');
picture.src = `data:image/svg+xml,${encodeURIComponent(code)}`;
picture.alt = texts.code({ address: url });

const own = systems.find(([, pattern]) => pattern.test(navigator.userAgent))?.[0];
element('systems').append(
  ...systems.map(([name]) => {
    const { title, ...steps } = texts.systems[name];
    const list = make('ol', '', ...Object.values(steps).map((step) => make('li', '', step)));
    const details = make('details', '', make('summary', '', title), list);
    details.open = name === own;
    return details;
  }),
);
