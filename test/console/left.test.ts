/** What a tab that is closed leaves to the next one. */
import { beforeEach, expect, test } from 'vitest';
import {
  claim,
  draftKey,
  forgetLeft,
  leave,
  savedDraftKey,
  takeBackLeft,
  takeLeft,
} from '../../renderer/console/stores/left.ts';

/** As in a browser: its values are its own properties. @param most characters of a value */
const storage = (most = Number.POSITIVE_INFINITY): Storage => {
  const methods = {
    getItem(this: Record<string, string>, key: string) {
      return this[key] ?? null;
    },
    setItem(this: Record<string, string>, key: string, value: string) {
      if (value.length > most) throw new Error('full');
      this[key] = value;
    },
    removeItem(this: Record<string, string>, key: string) {
      delete this[key];
    },
  };
  return Object.create(methods) as Storage;
};

const DAY_MS = 86_400_000;
let lasting = storage();
beforeEach(() => {
  lasting = storage();
});
const open = (signer: string, now = 0, tab = storage()): Storage => {
  takeLeft(tab, lasting, signer, now);
  return tab;
};
const type = (tab: Storage, text: string, id: string | null = null): Storage => {
  tab.setItem(draftKey, text);
  if (id !== null) tab.setItem(savedDraftKey, id);
  return tab;
};
const textIn = (tab: Storage): (string | null)[] => [tab.getItem(draftKey), tab.getItem(savedDraftKey)];

test('each of two tabs that are closed leaves its own, which goes to the same signer alone, and only once', () => {
  const [a, b] = [type(open('anna'), 'A', 'a-1'), type(open('anna'), 'B')];
  leave(a, lasting, 1);
  leave(b, lasting, 2);
  expect(textIn(open('boris', 3))).toEqual([null, null]);
  expect(textIn(open('anna', 3))).toEqual(['B', null]);
  expect(textIn(open('anna', 3))).toEqual(['A', 'a-1']);
  expect(textIn(open('anna', 3))).toEqual([null, null]);
  expect(Object.keys(lasting)).toEqual([]);
});

test('a tab that is loaded anew, or comes back, takes back its own and leaves the others alone', () => {
  const [a, b] = [type(open('anna'), 'A'), type(open('anna'), 'B')];
  leave(a, lasting, 1);
  leave(b, lasting, 2);
  expect(textIn(open('anna', 3, b))).toEqual(['B', null]);
  takeBackLeft(b, lasting);
  expect(textIn(open('anna', 3))).toEqual(['A', null]);
});

test.each([
  ['another signer opens the tab', 'boris', 1],
  ['it is a week old', 'anna', 7 * DAY_MS + 1],
])('nothing is gone on with where %s', (_, signer, now) => {
  const tab = type(open('anna'), 'A');
  leave(tab, lasting, 1);
  expect(textIn(open(signer, now))).toEqual([null, null]);
  if (signer === 'boris') expect(textIn(open(signer, now, tab))).toEqual([null, null]);
  else expect(Object.keys(lasting)).toEqual([]);
});

test('who has gone leaves nothing, of any tab, until somebody is there again', () => {
  const [tab, other] = [type(open('anna'), 'A'), type(open('anna'), 'B')];
  leave(other, lasting, 1);
  leave(type(open('boris'), 'C'), lasting, 1);
  forgetLeft(tab, lasting, 'anna');
  expect(textIn(tab)).toEqual([null, null]);
  leave(type(tab, 'A'), lasting, 2);
  expect(textIn(open('anna', 3))).toEqual([null, null]);
  claim(tab, 'anna');
  leave(tab, lasting, 4);
  expect(textIn(open('anna', 5))).toEqual(['A', null]);
  expect(textIn(open('boris', 5))).toEqual(['C', null]);
});

test('what a tab has no room for is left to another one', () => {
  leave(type(open('anna'), 'a long text'), lasting, 1);
  expect(textIn(open('anna', 2, storage(9)))).toEqual([null, null]);
  expect(textIn(open('anna', 3))).toEqual(['a long text', null]);
});
