/**
 * The greeting after onboarding. It starts on the landing page and covers the player page until that shows a slide, so that
 * the navigation between the two is not visible.
 */
import { createSky, make } from './elements.ts';

export interface Greeting {
  /** The slug of the screen. */
  slug: string;
  name: string;
  welcome: string;
  /** The BCP 47 tag of the welcome text. */
  language: string;
  /** When the animation of the landscape started, in ms since the epoch. */
  since: number;
  /** Until when the text is shown, in ms since the epoch. */
  until: number;
}

const KEY = 'signage.greeting';
/** The limit of the remaining time, in case the clock was set meanwhile. */
const LONGEST_MS = 2_000;
/** A greeting that ended this long ago belongs to an earlier navigation. */
const STALE_MS = 10_000;
/** If the first slide takes longer, the text fades and the landscape stays. */
const LONGEST_WORDS_MS = 10_000;
const FADE_MS = 400;
/** The text fades first, so that it does not overlap the text of the slide. */
const WORDS_FADE_MS = 200;
/** Longer names are set in smaller type. */
const LONG_NAME = 24;

/** The text of the greeting, without the landscape. */
export const createGreeting = ({ name, welcome, language }: Greeting): HTMLElement => {
  const headline = make('h1', name.length > LONG_NAME ? 'headline long' : 'headline', name);
  const section = make('section', 'greeting', make('p', '', welcome), headline);
  section.lang = language;
  return section;
};

/** Passes the greeting to the next page in this tab. */
export const passGreeting = (greeting: Greeting): void => {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(greeting));
  } catch {
    // Without storage there is no greeting.
  }
};

/** Reads and removes the passed greeting. */
const takeGreeting = (): Greeting | null => {
  try {
    const passed = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    return JSON.parse(passed ?? 'null') as Greeting | null;
  } catch {
    return null;
  }
};

/** Fades out from the current opacity. */
const fadeOut = (element: HTMLElement, duration: number, delay: number): void =>
  void element.animate({ opacity: 0 }, { duration, delay, easing: 'ease-in-out', fill: 'forwards' });

/**
 * Continues the greeting of this screen, if the previous page passed one.
 * @returns ends it once its time is over; further calls do nothing
 */
export const resumeGreeting = (page: HTMLElement, slug: string): (() => void) => {
  const greeting = takeGreeting();
  if (greeting?.slug !== slug || Date.now() - greeting.until > STALE_MS) return () => {};
  const words = createGreeting(greeting);
  const scene = make('div', 'idle dawn scene', createSky(), words);
  scene.style.setProperty('--moved', `${greeting.since - Date.now()}ms`);
  page.append(scene);
  const wordsTimer = setTimeout(() => fadeOut(words, WORDS_FADE_MS, 0), LONGEST_WORDS_MS);
  let isEnding = false;
  return () => {
    if (isEnding) return;
    isEnding = true;
    clearTimeout(wordsTimer);
    const leftMs = Math.min(Math.max(greeting.until - Date.now(), 0), LONGEST_MS);
    setTimeout(() => {
      fadeOut(words, WORDS_FADE_MS, 0);
      fadeOut(scene, FADE_MS, WORDS_FADE_MS);
      setTimeout(() => scene.remove(), WORDS_FADE_MS + FADE_MS);
    }, leftMs);
  };
};
