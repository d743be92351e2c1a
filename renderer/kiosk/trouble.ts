/** The page that a display shows while there is no service, or while its page fails too often. */
import './trouble.css';
import { element } from '../onboarding/element.ts';
import { textsFor } from './texts.ts';

const texts = textsFor(navigator.languages);
const query = new URLSearchParams(location.search);

const kind = query.get('kind') ?? '';
const { title, task } = texts.trouble[kind in texts.trouble ? (kind as keyof typeof texts.trouble) : 'other'];
const period = Number(query.get('seconds'));

document.documentElement.lang = texts.tag;
element('title').textContent = title;
element('task').textContent = task;
element('message').textContent = query.get('message');

const tell = (): void => {
  // The page stays while one try after the other fails in the same way.
  element('retry').textContent = texts.retryIn(Math.ceil(period - ((performance.now() / 1000) % period)));
};
tell();
setInterval(tell, 250);
