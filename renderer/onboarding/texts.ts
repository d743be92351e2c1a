/// <reference types="vite/client" />
/** What the onboarding pages say. A language is one file in `texts/`, named by its BCP 47 tag. */
import { choose } from '../shared/language.ts';

/** Stands in the pages as it is, where an element names it in `data-text`. */
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
  /** The language itself, for `<html lang>`. */
  tag: string;
  plain: PlainTexts;
  /** Of the landing page, in the order of events. */
  waiting: string;
  opened: string;
  away: string;
  welcome: string;
  /** So many of the media of the site are here. */
  arriving(here: number, there: number): string;
  /** What a picture of a QR code is called where it can't be seen. */
  code(address: string): string;
  /** Of the page of an address that leads nowhere. */
  missing: { title: string; home: string; task(path: string): string };
  player(deviceId: string): string;
  /** What a bound device shows now. */
  bound(screen: string, name: string): string;
  rebindQuestion(from: string, to: string): string;
  doneTitle(screen: string): string;
  done(name: string): string;
  /** Somebody else has set it up anew since. */
  changed(name: string): string;
  savedTitle: string;
  queued(name: string): string;
  /** What is said where the player stopped answering: it was saved after all, it was not, nobody knows yet. */
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

/** The texts in the browser's language; the page is marked as being in it, and filled in. */
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
