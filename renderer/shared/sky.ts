import { make } from './elements.ts';

const names = ['idle-sun', 'idle-far', 'idle-middle', 'idle-near'] as const;

/** The landscape of a page without content. Animated by its style sheet. */
export const createSky = (): HTMLElement => {
  const sky = make('div', 'idle-sky', ...names.map((name) => make('div', name)));
  sky.ariaHidden = 'true';
  return sky;
};
