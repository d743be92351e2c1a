/** The page for an unknown URL. */
import type { MissingBoot } from '../../service/contract/page.ts';
import { readBoot } from '../shared/boot.ts';
import { element } from '../shared/elements.ts';
import { loadTexts } from './texts.ts';

/** How many characters of the path are shown. */
const MAX_PATH = 80;

const { missing } = loadTexts(document, navigator.languages);
const { pathname } = location;
const path = pathname.length > MAX_PATH ? `${pathname.slice(0, MAX_PATH)}…` : pathname;
element('title').textContent = missing.title;
element('task').textContent = missing.task({ path });
element('home').textContent = missing.home;

const links = readBoot<MissingBoot>(document).screens.map(({ slug, name }) => {
  const link = document.createElement('a');
  link.href = `/screen/${slug}`;
  link.textContent = name;
  return link;
});
document.querySelector('nav')?.prepend(...links);
