/** Who gets the headers of a secret, request by request. */
import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { grantHeaders } from '../../main/windows/page-headers.ts';
import type { PageHeaders } from '../../service/public.ts';

const dash = 'https://dash.example.com';
const evil = 'https://evil.example.com';
const headers = { 'X-Key': '5ecret' };

interface Frame {
  url: string;
  origin: string;
  parent: Frame | null;
}
const frameAt = (origin: string, parent: Frame | null = null): Frame => ({ url: `${origin}/`, origin, parent });
const top = frameAt(dash);
const own = frameAt(dash, top);
const theirs = frameAt(evil, top);
const fresh = { url: '', origin: 'null', parent: top };
/** A sandboxed one of others. */
const opaque = { url: `${evil}/`, origin: 'null', parent: top };

const start = () => {
  let listener: ((details: object, answer: (answer: object) => void) => void) | undefined;
  let secret: PageHeaders | null = { origins: [dash], headers };
  const session = {
    webRequest: {
      onBeforeSendHeaders: (given: typeof listener): void => {
        listener = given;
      },
    },
  };
  const contents = Object.assign(new EventEmitter(), { id: 7, session, mainFrame: top });
  grantHeaders(contents as never, () => secret);
  let count = 0;
  const send = (more: object): { cancel?: boolean; requestHeaders?: Record<string, string> } => {
    let answered = {};
    count += 1;
    const request = { id: count, url: `${dash}/`, resourceType: 'xhr', frame: top, requestHeaders: { Accept: '*/*' } };
    listener?.({ ...request, webContentsId: 7, webContents: contents, ...more }, (answer) => (answered = answer));
    return answered;
  };
  return {
    contents,
    send,
    keyOf: (more: object) => send(more).requestHeaders?.['X-Key'],
    forget: () => (secret = null),
  };
};

test.each([
  ['the page itself', { resourceType: 'mainFrame' }, true],
  ['what the page fetches', {}, true],
  ['a frame of the page', { resourceType: 'subFrame', frame: fresh }, true],
  ['a frame that goes on within the page', { resourceType: 'subFrame', frame: own }, true],
  ['what such a frame fetches', { frame: own }, true],
  ['what the page fetches elsewhere', { url: `${evil}/` }, false],
  ['what a frame of others fetches', { frame: theirs }, false],
  ['a frame of others that leads itself to the page', { resourceType: 'subFrame', frame: theirs }, false],
  ['a sandboxed frame of others that does so', { resourceType: 'subFrame', frame: opaque }, false],
  ['a frame within a frame of others', { resourceType: 'subFrame', frame: frameAt(dash, theirs) }, false],
  ['a request without a frame', { frame: null }, false],
  ['a service worker', { webContentsId: undefined, frame: null }, false],
])('%s', (_, request, isGiven) => {
  expect(start().keyOf(request)).toBe(isGiven ? '5ecret' : undefined);
});

test('what was elsewhere once, or comes after the end, carries no header on', () => {
  const { keyOf, send, forget, contents } = start();
  const carried = { 'x-key': '5ecret', Accept: '*/*' };
  expect(keyOf({ id: 'a' })).toBe('5ecret');
  expect(send({ id: 'a', url: `${evil}/`, requestHeaders: carried }).requestHeaders).toEqual({ Accept: '*/*' });
  expect(keyOf({ id: 'a', requestHeaders: carried })).toBeUndefined();
  expect(keyOf({ id: 'b' })).toBe('5ecret');
  forget();
  expect(send({ id: 'b', url: `${dash}/2`, requestHeaders: carried }).requestHeaders).toEqual({ Accept: '*/*' });
  contents.emit('destroyed');
  expect(send({ webContentsId: undefined, requestHeaders: carried }).requestHeaders).toEqual({ Accept: '*/*' });
});

test('a page that has left its origins gets none any more', () => {
  const { keyOf, contents } = start();
  contents.emit('did-navigate', {}, `${evil}/`);
  expect(keyOf({ resourceType: 'mainFrame' })).toBeUndefined();
});

test('a frame of others cannot lead the page, and no service worker comes between', () => {
  const { contents, send } = start();
  const isPrevented = (initiator: Frame | null): boolean => {
    let prevented = false;
    contents.emit('will-navigate', { initiator, preventDefault: () => (prevented = true) });
    return prevented;
  };
  expect([theirs, opaque, own, top, frameAt(evil), null].map(isPrevented)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
  expect(send({ requestHeaders: { 'Service-Worker': 'script' } })).toEqual({ cancel: true });
});
