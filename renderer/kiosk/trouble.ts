/** The trouble page: shown while the service does not run, or after a page failed too often. */
import './trouble.css';
import { languages, type Texts } from 'virtual:texts/kiosk';
import { element } from '../shared/elements.ts';
import { textsFor } from '../texts/messages.ts';

const texts = textsFor<Texts>(languages, navigator.languages);
const query = new URLSearchParams(location.search);

const kind = query.get('kind') ?? '';
const { title, task } = texts.trouble[kind in texts.trouble ? (kind as keyof typeof texts.trouble) : 'other'];
const period = Number(query.get('seconds'));

document.documentElement.lang = texts.tag;
element('title').textContent = title;
element('task').textContent = task;
element('message').textContent = query.get('message');

const countDown = (): void => {
  // The page stays while attempts keep failing for the same reason.
  element('retry').textContent = texts.retryIn({ seconds: Math.ceil(period - ((performance.now() / 1000) % period)) });
};
countDown();
setInterval(countDown, 250);
