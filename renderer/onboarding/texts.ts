/// <reference types="vite/client" />
/** The texts of the onboarding pages. A language is one file in `texts/`, named by its BCP 47 tag. */
import { choose } from '../shared/language.ts';

/** Fixed texts, which elements refer to by `data-text`. */
export interface PlainTexts {
  landingTitle: string;
  landingTask: string;
  landingAddress: string;
  landingDevice: string;
  landingHere: string;
  begin: string;
  noNetworkTitle: string;
  noNetworkTask: string;
  noReachTitle: string;
  noReachTask: string;
  noScreensTitle: string;
  noScreensHere: string;

  formTitle: string;
  loading: string;
  stuck: string;
  deviceTitle: string;
  noDevice: string;
  deviceTask: string;
  deviceLabel: string;
  next: string;
  awayTitle: string;
  retry: string;
  screens: string;
  search: string;
  noMatch: string;
  noScreensTask: string;
  name: string;
  nameHint: string;
  bind: string;
  unseen: string;
  unknownTitle: string;
  unknownTask: string;
  correct: string;
  sure: string;
  rebindTitle: string;
  rebind: string;
  keep: string;
  change: string;
}

export interface Texts {
  /** The BCP 47 tag, for `<html lang>`. */
  tag: string;
  plain: PlainTexts;
  /** Of the landing page, in the order of events. */
  waiting: string;
  opened: string;
  away: string;
  welcome: string;
  /** How many of the media of the site are here. */
  arriving(here: number, there: number): string;
  /** The alternative text of the QR code. */
  code(address: string): string;
  /** Of the page for an unknown URL. */
  missing: { title: string; home: string; task(path: string): string };
  player(deviceId: string): string;
  /** The current screen of a bound device. */
  bound(screen: string, name: string): string;
  rebindQuestion(from: string, to: string): string;
  doneTitle(screen: string): string;
  done(name: string): string;
  /** Another phone has changed the binding. */
  changed(name: string): string;
  savedTitle: string;
  queued(name: string): string;
  /** The outcome if the player stopped responding: saved, not saved, or not known yet. */
  saved(screen: string, name: string): string;
  notSaved: string;
  unsure: string;
  binding: string;
  chooseScreen: string;
  chooseName: string;
  screenGone: string;
  badDevice: string;
  unreachable: string;
  offline: string;
  diskFull: string;
  tooMany: string;
  fault: string;
}

/** Returns the texts in the browser's language, and fills in the page. */
export const speak = (page: Document, wanted: readonly string[]): Texts => {
  const files = import.meta.glob<{ texts: Texts }>('./texts/*.ts', { eager: true });
  const languages = new Map(Object.values(files).map(({ texts }) => [texts.tag, texts]));
  const texts = languages.get(choose([...languages.keys()], wanted)) as Texts;
  page.documentElement.lang = texts.tag;
  for (const element of page.querySelectorAll<HTMLElement>('[data-text]')) {
    element.textContent = texts.plain[element.dataset.text as keyof PlainTexts];
  }
  return texts;
};
