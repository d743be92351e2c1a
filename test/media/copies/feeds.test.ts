import { expect, it, onTestFinished } from 'vitest';
import { CodedError } from '../../../service/contract/errors.ts';
import type { NetworkScope } from '../../../service/domain/network-scope.ts';
import { createCopies } from '../../../service/media/copies/copies.ts';
import { openLedger } from '../../../service/media/copies/ledger.ts';
import { createDownloads } from '../../../service/media/downloads.ts';
import { createFetchLimits } from '../../../service/media/fetch-limits.ts';
import { createGet, type Get } from '../../../service/platform/outbound/get.ts';
import { createLocator } from '../../../service/platform/outbound/locate.ts';
import { patience } from '../../support/observe.ts';
import { temporaryFolder } from '../../support/service.ts';
import { mediaContext } from '../context.ts';
import { serveBytes, startRemote } from '../remote.ts';
import { png } from '../server.ts';

/** Copies for what `show` says is shown, named by a feed of that nearness. */
const startCopies = async (
  get: Get,
  show: () => object,
  { reach = 0, isFull = () => false }: { reach?: NetworkScope; isFull?: () => boolean } = {},
) => {
  let onChange = (): void => {};
  const context = mediaContext(temporaryFolder(), { get, options: { maxUploadBytes: 1e6 } });
  const ledger = await openLedger(context);
  const requireRoom = async (): Promise<void> => {
    if (isFull()) throw new CodedError('insufficient_storage');
  };
  const limits = createFetchLimits(context);
  const downloads = await createDownloads(context, {
    limits,
    requireRoom,
    catalog: { record: () => {}, fileOf: async () => undefined },
  });
  const copies = createCopies(context, {
    content: {
      shown: () => [show()],
      onChange: (listener: () => void) => (onChange = listener),
    } as unknown as Parameters<typeof createCopies>[1]['content'],
    feeds: { reach: () => reach },
    storage: { quota: 1e9, left: async () => 1e9 },
    ledger,
    downloads,
    limits,
    siteCopy: async () => null,
  });
  copies.start();
  onTestFinished(async () => {
    copies.close();
    await downloads.close();
    await ledger.close();
  });
  return { copies, change: () => onChange(), failed: () => copies.status().failed.map(({ reason }) => reason) };
};

it('a name that resolves to a LAN address is requested for the operator, but not for an Internet feed', async () => {
  const remote = await startRemote({ host: '0.0.0.0' });
  for (const path of ['/far', '/near']) remote.answer(path, serveBytes(png, { type: 'image/png' }));
  const addresses: Record<string, string> = { 'far.test': '127.0.0.1', 'near.test': '127.0.0.2' };
  const lookUp = async (host: string) => [{ address: addresses[host] ?? '', family: 4 }];
  const get = createGet(createLocator(lookUp, (address) => (address === '127.0.0.1' ? 0 : 1)));
  const [far, near] = ['far', 'near'].map((name) => `${remote.url.replace('127.0.0.1', `${name}.test`)}/${name}`);

  let payload: object = { slides: [], rssFeeds: [{ id: 'news', items: [{ image_url: far }, { image_url: near }] }] };
  const { copies, change, failed } = await startCopies(get, () => payload);
  const paths = () => remote.requests.map(({ url }) => url).toSorted();

  // Meanwhile no page is led there.
  expect(copies.find(near ?? '')).toEqual({ coming: expect.any(Promise) });
  await expect.poll(failed, patience).toEqual(['it is in a network that is nearer than where it was named']);
  expect(copies.find(near ?? '')).toEqual({ coming: expect.any(Promise) });
  await expect.poll(() => copies.status().count, patience).toBe(1);
  expect([copies.find(far ?? ''), paths()]).toEqual([expect.objectContaining({ copy: expect.anything() }), ['/far']]);

  payload = { ...payload, slides: [{ kind: 'image', media_url: near, body: null, template: null, content: null }] };
  change();
  expect(copies.find(near ?? '')).toEqual({ remote: near });
  await expect.poll(failed, patience).toEqual([]);
  expect(copies.find(near ?? '')).toHaveProperty('copy');
  expect(paths()).toEqual(['/far', '/near']);
});

it.each<[reach: NetworkScope, path: string, feed: string, leads: boolean]>([
  [1, '/a', '/feed', true],
  [1, '/a', ':81/feed', false],
  [0, '/a', '/feed', false],
  [1, '/gone', '/feed', false],
])(
  'with a full disk a page is led to what a feed at distance %i names, %s of %s: %s',
  async (reach, path, feed, leads) => {
    const remote = await startRemote();
    remote.answer('/a', serveBytes(png, { type: 'image/png' }));
    const get = createGet(createLocator(undefined, () => reach));
    const picture = remote.url + path;
    const url = feed.startsWith('/') ? remote.url + feed : `http://127.0.0.1${feed}`;
    const payload = { slides: [], rssFeeds: [{ id: 'news', url, items: [{ image_url: picture }] }] };
    const { copies, failed } = await startCopies(get, () => payload, { reach, isFull: () => true });
    await expect.poll(() => failed().length, patience).toBe(1);
    expect(copies.find(picture)).toEqual(leads ? { remote: picture } : { coming: expect.any(Promise) });
  },
);
