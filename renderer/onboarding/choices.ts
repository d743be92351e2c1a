/** The list of screens: radio buttons, with a search field if there are many. */
import type { Screen } from '../../service/contract/playlist.ts';
import { element } from '../shared/elements.ts';

/** More screens do not fit on a phone without scrolling. */
const MANY = 8;

/** Ignores case and accents, which are hard to type on a phone. */
const plain = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase();

export const createChoices = (onChoose: (screen: Screen) => void) => {
  const list = element('choices');
  const search = element<HTMLInputElement>('search');
  let screens: readonly Screen[] = [];

  const inputs = (): HTMLInputElement[] => Array.from(list.querySelectorAll('input'));
  const chosen = (): Screen | undefined => {
    const input = inputs().find(({ checked }) => checked);
    return screens.find(({ slug }) => slug === input?.value);
  };

  const row = ({ slug, name }: Screen, isChosen: boolean): HTMLElement => {
    const label = document.createElement('label');
    const input = document.createElement('input');
    const text = document.createElement('span');
    Object.assign(input, { type: 'radio', name: 'screen', value: slug, checked: isChosen });
    text.textContent = name;
    label.className = 'choice';
    label.append(input, text);
    return label;
  };

  const filter = (): void => {
    const wanted = plain(search.value.trim());
    let found = 0;
    for (const label of Array.from(list.children) as HTMLElement[]) {
      // The selected screen is always listed.
      const isChosen = label.querySelector('input')?.checked ?? false;
      label.hidden = !isChosen && !plain(label.textContent ?? '').includes(wanted);
      if (!label.hidden) found += 1;
    }
    element('no-match').hidden = found > 0;
  };

  search.addEventListener('input', filter);
  // Enter closes the keyboard instead of submitting the form.
  search.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    search.blur();
  });
  list.addEventListener('change', () => {
    const screen = chosen();
    if (screen !== undefined) onChoose(screen);
  });

  return {
    /** Fills the list, and selects the screen with this slug, or the only one. */
    fill: (next: readonly Screen[], slug: string | null): void => {
      screens = next;
      list.replaceChildren(...screens.map((screen) => row(screen, screen.slug === slug || screens.length === 1)));
      element('search-field').hidden = screens.length <= MANY;
      search.value = '';
      filter();
    },
    get chosen(): Screen | undefined {
      return chosen();
    },
    focus: (): void => (inputs().find(({ checked }) => checked) ?? inputs()[0])?.focus(),
  };
};
