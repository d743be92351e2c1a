/**
 * The greeting of a player that has just been set up. It begins on the landing page, and stays in front of the page that
 * follows until that has a picture: nothing is seen of the way between the two.
 */
import { createSky } from './sky.ts';

export interface Greeting {
  /** Of the screen that is greeted. */
  slug: string;
  name: string;
  welcome: string;
  /** BCP 47, of the welcome. */
  language: string;
  /** Since when the landscape has moved, ms since the epoch. */
  since: number;
  /** Until when it is to be read, ms since the epoch. */
  until: number;
}

const KEY = 'signage.greeting';
/** Whatever a clock says that was set meanwhile. */
const LONGEST_MS = 2_000;
/** Later than this after it was to be read, the page has come for another reason. */
const STALE_MS = 10_000;
/** However long the picture takes to come: then the landscape alone waits for it. */
const LONGEST_WORDS_MS = 10_000;
const FADE_MS = 400;
/** The words go first: they don't stand over those of the picture. */
const WORDS_FADE_MS = 200;
/** Beyond this many characters a name is set in smaller type. */
const LONG_NAME = 24;

/** The words alone, to stand in front of a landscape. */
export const createGreeting = ({ name, welcome, language }: Greeting): HTMLElement => {
  const section = document.createElement('section');
  const [intro, headline] = [document.createElement('p'), document.createElement('h1')];
  section.className = 'greeting';
  section.lang = language;
  intro.textContent = welcome;
  headline.textContent = name;
  headline.className = name.length > LONG_NAME ? 'headline long' : 'headline';
  section.append(intro, headline);
  return section;
};

/** Leaves the greeting for the page that follows in this tab. */
export const passGreeting = (greeting: Greeting): void => {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(greeting));
  } catch {
    // A browser that keeps nothing goes on without.
  }
};

/** Takes back the greeting that was left, where no page follows after all. */
export const takeGreeting = (): Greeting | null => {
  try {
    const passed = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    return JSON.parse(passed ?? 'null') as Greeting | null;
  } catch {
    return null;
  }
};

/** Fades from whatever it is like: what has faded already stays so. */
const fadeOut = (element: HTMLElement, duration: number, delay: number): void =>
  void element.animate({ opacity: 0 }, { duration, delay, easing: 'ease-in-out', fill: 'forwards' });

/**
 * Goes on with the greeting of this screen, where the page before has left one.
 * @returns ends it, as soon as it has been read; more calls do nothing
 */
export const resumeGreeting = (page: HTMLElement, slug: string): (() => void) => {
  const greeting = takeGreeting();
  if (greeting?.slug !== slug || Date.now() - greeting.until > STALE_MS) return () => {};
  const scene = document.createElement('div');
  scene.className = 'idle dawn scene';
  scene.style.setProperty('--moved', `${greeting.since - Date.now()}ms`);
  const words = createGreeting(greeting);
  scene.append(createSky(), words);
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
