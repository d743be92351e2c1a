/** What a browser gets for an address that leads nowhere. */
import type { MissingBoot } from '../../service/contract/page.ts';
import { readBoot } from '../shared/boot.ts';
import { element } from './element.ts';
import { speak } from './texts.ts';

/** Characters of the address that are shown. */
const LONGEST_PATH = 80;

const { missing } = speak(document, navigator.languages);
const { pathname } = location;
const path = pathname.length > LONGEST_PATH ? `${pathname.slice(0, LONGEST_PATH)}…` : pathname;
element('title').textContent = missing.title;
element('task').textContent = missing.task(path);
element('home').textContent = missing.home;

const links = readBoot<MissingBoot>(document).screens.map(({ slug, name }) => {
  const link = document.createElement('a');
  link.href = `/screen/${slug}`;
  link.textContent = name;
  return link;
});
document.querySelector('nav')?.prepend(...links);
