/** A tab of the console with its draft, without a browser: its requests are held back, lost or noted. */
import { signal } from '@preact/signals';
import { expect, onTestFinished, vi } from 'vitest';
import { createClient, type RequestOptions } from '../../renderer/console/api/client.ts';
import { createBoxClock } from '../../renderer/console/api/clock.ts';
import { Unreachable } from '../../renderer/console/api/errors.ts';
import type { ContentDocument } from '../../renderer/console/model/document.ts';
import { createDocuments } from '../../renderer/console/stores/documents.ts';
import { createDraft } from '../../renderer/console/stores/draft.ts';
import { createSavedDrafts } from '../../renderer/console/stores/saved-drafts.ts';
import type { SiteStore } from '../../renderer/console/stores/site.ts';
import type { Draft, DraftSummary } from '../../service/contract/console/drafts.ts';
import { patience } from '../support/observe.ts';
import { lobby } from '../support/player.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { signedIn, storage } from './signed-in.ts';

export const slide = (id: string, title = id) => ({ id, kind: 'text', title });
export const documentOf = (...slides: object[]) => lobby(slides) as unknown as ContentDocument;
export const titlesIn = (document: unknown): string[] | undefined =>
  (document as ContentDocument | null)?.playlists?.[0]?.slides.map(({ title }) => String(title));
const path = '/console/api';

type Answer = () => Promise<Response>;

/** A tab of the console at a box that plays the slides `a` and `b`. @param before the tab that it restores */
export const openTab = async (
  slides: object[] = [slide('a'), slide('b')],
  before?: { service: TestService; kept: Storage },
) => {
  const service = before?.service ?? (await startTestService({ content: documentOf(...slides) }));
  const client = createClient({
    session: Object.assign(signedIn(null), { operator: signal('Anna') }),
    clock: createBoxClock(),
    fetch: (to, init) => service.get(String(to), init),
    host: 'box',
  });
  const asked: [method: string, path: string, body: unknown, timeout: number | undefined][] = [];
  /** What happens to the requests that a test holds back, loses or notes; null: nothing. */
  const rules: ((method: string, path: string, answer: Answer) => Promise<Response> | null)[] = [];
  let isClosed = false;
  const request = (to: string, options: RequestOptions = {}): Promise<Response> => {
    // A closed tab asks for nothing any more: it would go on in the files that follow in this worker.
    if (isClosed) return new Promise(() => {});
    const method = options.method ?? 'GET';
    asked.push([method, to.slice(path.length), options.body, options.timeout]);
    const answer: Answer = () => client.request(to, options);
    for (const rule of rules) {
      const ruled = rule(method, to.slice(path.length), answer);
      if (ruled !== null) return ruled;
    }
    return answer();
  };
  const json = async <Body>(to: string, options?: RequestOptions): Promise<Body> => {
    const response = await request(to, options);
    return (response.status === 204 ? undefined : await response.json()) as Body;
  };
  const wire = { request, json } as Pick<typeof client, 'request' | 'json'>;
  const overview = signal<object | null>(null);
  const mayEdit = signal(true);
  const documents = createDocuments(wire, { overview } as unknown as SiteStore, { may: () => mayEdit.value });
  await documents.load();
  const kept = before?.kept ?? storage();
  const page = new EventTarget() as Window;
  const ofPage = Object.assign(new EventTarget(), { hidden: false });
  Object.assign(page, { document: ofPage });
  const merged = vi.fn();
  const draft = createDraft({
    client: wire,
    documents,
    signer: signal('operator Anna'),
    storage: kept,
    page,
    texts: { ofBox: (sentence: string) => sentence },
    onReplaced: vi.fn(),
  });
  const saved = createSavedDrafts({
    client: wire,
    draft,
    documents,
    operator: signal('Anna'),
    storage: kept,
    page,
    onLeft: vi.fn(),
    isSelf: ({ name }) => name === 'Anna',
    onMerged: merged,
  });
  onTestFinished(() => {
    isClosed = true;
    draft.discard();
  });

  const names = { other: 'Boris' };
  const send = async (method: string, to: string, body?: unknown, headers: Record<string, string> = {}) => {
    const given = body === undefined ? {} : { body: JSON.stringify(body) };
    const all = { 'Content-Type': 'application/json', 'x-signage-operator': names.other, ...headers };
    return await service.get(path + to, { method, headers: all, ...given });
  };
  const drafts = async (): Promise<DraftSummary[]> =>
    ((await (await send('GET', '/drafts')).json()) as { drafts: DraftSummary[] }).drafts;
  return {
    service,
    kept,
    documents,
    overview,
    mayEdit,
    draft,
    saved,
    merged,
    asked,
    rules,
    send,
    names,
    drafts,
    edit: (...slides: object[]) => draft.edit(documentOf(...slides)),
    close: () => {
      isClosed = true;
    },
    hide: () => {
      ofPage.hidden = true;
      ofPage.dispatchEvent(new Event('visibilitychange'));
    },
    titles: () => titlesIn(draft.content.value),
    isSaved: () => expect.poll(() => saved.state.value, patience).toBe('saved'),
    /** What plays. */
    playing: async () => titlesIn(((await (await send('GET', '/content')).json()) as { content: unknown }).content),
    /** Publishes as somebody else. */
    publishOther: async (...slides: object[]) => {
      const answer = await send('PUT', '/content', documentOf(...slides), { 'If-Match': '*' });
      expect(answer.status).toBe(200);
    },
    /** Saves into the draft of the tab as somebody else. */
    saveOther: async (...slides: object[]) => {
      const found = await send('GET', `/drafts/${saved.id.value}`);
      const { title, base_sha256 } = (await found.json()) as Draft;
      const body = { title, base_sha256, content: documentOf(...slides) };
      const headers = { 'If-Match': found.headers.get('ETag') ?? '' };
      expect((await send('PUT', `/drafts/${saved.id.value}`, body, headers)).status).toBe(200);
    },
    /** The slides of the draft that the box has; undefined: it has none. */
    stored: async () => {
      const [first] = await drafts();
      return first && titlesIn(((await (await send('GET', `/drafts/${first.id}`)).json()) as Draft).content);
    },
    /** Loses the answer of the next request of a kind, or the request itself. */
    loseNext: (wanted: string, to: string, isAnswer = true) => {
      const rule: (typeof rules)[number] = (method, at, answer) => {
        if (method !== wanted || !at.startsWith(to)) return null;
        rules.splice(rules.indexOf(rule), 1);
        return (isAnswer ? answer() : Promise.resolve()).then(() => {
          throw new Unreachable('lost');
        });
      };
      rules.push(rule);
    },
    /** Holds the next request of a kind back, or its answer. @returns resolves once it is asked with what lets it go on */
    holdNext: (wanted: string, to: string, isAnswer = false): Promise<() => void> =>
      new Promise((hold) => {
        const rule: (typeof rules)[number] = (method, at, answer) => {
          if (method !== wanted || !at.startsWith(to)) return null;
          rules.splice(rules.indexOf(rule), 1);
          const held = isAnswer ? answer() : null;
          return new Promise<void>((go) => hold(go)).then(() => held ?? answer());
        };
        rules.push(rule);
      }),
  };
};

export type Tab = Awaited<ReturnType<typeof openTab>>;

/** Asks for the draft and the list as a page does every 10 s. */
export const pollOf = async ({ saved, asked }: Tab): Promise<void> => {
  const lists = () => asked.filter(([, at]) => at === '/drafts').length;
  const before = lists();
  saved.follow()();
  await expect.poll(lists, patience).toBeGreaterThan(before);
};
