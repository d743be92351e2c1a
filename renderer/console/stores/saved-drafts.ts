/**
 * Keeps the draft of this tab on the box, saved 1 s after each change, so that it is found again from any browser. What two
 * people save into one draft is merged by field; of one field the own value stays. Where both added a record with the same
 * id, the tab begins a draft of its own. What the box has not when the tab is closed is left to the next one.
 */
import { batch, effect, type ReadonlySignal, signal } from '@preact/signals';
import type { PublishedContent } from '../../../service/contract/console/content.ts';
import type { DraftSummary, Draft as SavedDraft } from '../../../service/contract/console/drafts.ts';
import type { Author } from '../../../service/contract/terms.ts';
import { merge } from '../../../service/domain/merge-documents.ts';
import { isRenaming } from '../../../service/domain/renamed-media.ts';
import type { Client } from '../api/client.ts';
import { isCode } from '../api/errors.ts';
import { type ContentDocument, isEqual, type Version } from '../model/document.ts';
import { freeId } from '../model/edit.ts';
import type { Documents } from './documents.ts';
import { type Draft, PUBLISH_MS } from './draft.ts';
import { draftKey, savedDraftKey } from './left.ts';

export interface SavedDrafts {
  /** All drafts of the site, newest first. */
  readonly list: ReadonlySignal<readonly DraftSummary[]>;
  /** The draft of this tab; null: it has no changes yet. */
  readonly id: ReadonlySignal<string | null>;
  /** `failed`: the tab alone has it, and it is tried again. */
  readonly state: ReadonlySignal<'none' | 'saving' | 'saved' | 'failed'>;
  /** Why it could not be saved; null: it is saved. */
  readonly error: ReadonlySignal<unknown>;
  /** Everybody who has it open, including the user of this tab. */
  readonly editing: ReadonlySignal<readonly string[]>;
  /** Goes on with a draft of the site. @throws what the requests throw */
  open(id: string): Promise<void>;
  /** Leaves the draft of this tab on the box, and begins with what is published. @throws what the requests throw */
  putAside(): Promise<void>;
  /** @throws what the request throws */
  remove(id: string): Promise<void>;
  /** Submits the draft of this tab, or opens it again. @throws what the request throws */
  setState(state: SavedDraft['state']): Promise<void>;
  /**
   * Publishes the draft of this tab as the box has it; where the box could not take it, as it is here.
   * @throws what the requests throw; `draft_changed`: what somebody else saved into it is merged now, and to be looked at
   */
  publish(): Promise<void>;
  /** Leaves the draft of this tab on the box as it was saved last, and begins none. */
  forget(): void;
  /** Gives a submitted draft back to who made it. @throws what the requests throw */
  sendBack(id: string, note: string): Promise<void>;
  /** Follows the drafts of the site while a page shows them. @returns a function that ends it */
  follow(): () => void;
}

interface Kept {
  id: string;
  /** Null: it was never saved. */
  etag: string | null;
  /** The version that the box has it begun from; undefined: unknown. */
  base?: string | null | undefined;
  /** Whether this tab began it: only then is it deleted once nothing of it is left. */
  isOwn: boolean | undefined;
  /** Whether the box has all that this tab has. */
  isSaved?: boolean;
  /** Else what the box had, from which the next page merges what somebody else types; null: unknown, or too large. */
  saved?: ContentDocument | null;
}

interface Found {
  found: SavedDraft;
  etag: string | null;
}

interface Dependencies {
  client: Pick<Client, 'json' | 'request'>;
  draft: Draft;
  documents: Pick<Documents, 'current'>;
  operator: ReadonlySignal<string>;
  storage: Storage;
  page: Pick<Window, 'addEventListener' | 'document'>;
  /** Called when the page is left while the box lacks changes of this tab. */
  onLeft(): void;
  /** Whether somebody is the person at this tab. */
  isSelf(author: Author): boolean;
  /** Called when what somebody else saved into the draft was merged. */
  onMerged(name: string | null): void;
}

const path = '/console/api/drafts';
const REST_MS = 1_000;
const AGAIN_MS = 5_000;
const EDITING_MS = 10_000;
/** For so long the box waits for a draft. */
const TIMEOUT_MS = 60_000;
/** Characters that are kept with what the box has, beside the draft itself in the storage of a tab. */
const MOST_KEPT = 500_000;
/** Names of changed records in a title. */
const MOST_NAMES = 3;

const recall = (storage: Storage): Kept | null => {
  try {
    return JSON.parse(storage.getItem(savedDraftKey) ?? 'null') as Kept | null;
  } catch {
    return null;
  }
};

export const createSavedDrafts = (dependencies: Dependencies): SavedDrafts => {
  const { client, draft, documents, operator, storage, page, onLeft, isSelf, onMerged } = dependencies;
  const list = signal<readonly DraftSummary[]>([]);
  const state = signal<'none' | 'saving' | 'saved' | 'failed'>('none');
  const error = signal<unknown>(null);
  const editing = signal<readonly string[]>([]);
  // Its text is missing, so the next change starts a new draft.
  let kept = draft.base.peek() === null ? null : recall(storage);
  const id = signal<string | null>(kept?.id ?? null);
  /** What the box has of this draft; null: unknown. */
  let saved: ContentDocument | null = kept?.isSaved ? draft.content.peek() : (kept?.saved ?? null);
  /**
   * What was sent last and not confirmed: the box may have it all the same. The last page may have been left while it was
   * on its way.
   */
  let unconfirmed: ContentDocument | null = kept === null || kept.isSaved ? null : draft.content.peek();
  /** Whether this tab has had changes, without which nothing is to be deleted. */
  let wasDirty = false;
  let wantedState: SavedDraft['state'] | undefined;
  /** Why the box refused the last save that was merged with what somebody else had typed; null: since a publish, none was. */
  let mergedFor: unknown = null;
  let running: Promise<void> | null = null;
  let publishing: Promise<void> | null = null;
  let isStale = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Keeps it with what the box has: a tab that crashes, or that a phone discards, gets no `pagehide`. */
  const keep = (next: Omit<Kept, 'isSaved' | 'saved'> | null): void => {
    const isSaved = saved !== null && isEqual(draft.content.peek(), saved);
    kept = next && { id: next.id, etag: next.etag, base: next.base, isOwn: next.isOwn, isSaved };
    id.value = next?.id ?? null;
    try {
      if (kept === null) return storage.removeItem(savedDraftKey);
      storage.setItem(savedDraftKey, JSON.stringify(kept));
      if (isSaved || saved === null || storage.getItem(draftKey) === null) return;
      const withSaved = JSON.stringify({ ...kept, saved });
      if (withSaved.length <= MOST_KEPT) storage.setItem(savedDraftKey, withSaved);
    } catch {
      // The page's memory has it.
    }
  };

  const fetchDraft = async (of: string, query = ''): Promise<Found> => {
    const response = await client.request(`${path}/${of}${query}`, { timeout: TIMEOUT_MS });
    return { found: (await response.json()) as SavedDraft, etag: response.headers.get('ETag') };
  };

  /** Null: it was published or deleted elsewhere. */
  const find = (...draftAndQuery: Parameters<typeof fetchDraft>): Promise<Found | null> =>
    fetchDraft(...draftAndQuery).catch((reason: unknown) => {
      if (isCode(reason, 'draft_not_found')) return null;
      throw reason;
    });

  /**
   * Takes over what somebody else saved.
   * @param isClean the tab has nothing that is not saved
   * @returns whether something in it is to be looked at before it is published
   */
  const mergeWith = ({ found, etag }: Found, isClean: boolean): boolean => {
    const [mine, from] = [draft.content.peek(), draft.base.peek()];
    const theirs = found.content as ContentDocument;
    if (mine === null || from === null) return false;
    const isOwn = isEqual(theirs, unconfirmed);
    const before = saved ?? from.content;
    const { value, conflicts } = merge(before, mine, theirs);
    const next = isClean ? theirs : (value as ContentDocument);
    unconfirmed = null;
    if (!isOwn && !isClean && saved !== null && conflicts.some(({ of }) => of === 'record')) {
      // Nobody can be asked here: both drafts stay, and the person who publishes the second is asked.
      keep(null);
      saved = null;
      return true;
    }
    saved = theirs;
    const isNews = !isOwn && !isEqual(next, mine);
    if (isNews) draft.take(next);
    keep({ id: found.id, etag, base: found.base_sha256, isOwn: kept?.isOwn });
    if (!isNews) return false;
    // A renaming saves the drafts that name the file, each in the name of its last author.
    const isRenamed = isRenaming(before, theirs);
    const by = found.updated_by;
    const isByOther = by === null || !isSelf(by);
    if (isByOther && !isRenamed) onMerged(by?.name ?? null);
    // Somebody else may have chosen the other file, which is to be looked at.
    return isByOther || !isRenamed;
  };

  const put = async (content: ContentDocument, from: Version): Promise<void> => {
    // Without a title where the box is away, or has another version of the page by now.
    const changes = await import('../model/changes.ts').catch(() => null);
    const own = kept ?? {
      id: `${freeId(operator.peek() || 'draft', [])}-${Date.now().toString(36)}`,
      etag: null,
      isOwn: true,
    };
    keep(own);
    const names = changes?.changesBetween(from.content, content).map(({ name }) => name) ?? [];
    const title = names.slice(0, MOST_NAMES).join(', ') + (names.length > MOST_NAMES ? ' …' : '');
    const body = { title: title.slice(0, 200), base_sha256: from.sha256, content, state: wantedState };
    const sentState = wantedState;
    try {
      const response = await client.request(`${path}/${own.id}`, {
        method: 'PUT',
        headers: own.etag === null ? {} : { 'If-Match': own.etag },
        body,
        timeout: TIMEOUT_MS,
      });
      saved = content;
      unconfirmed = null;
      // Somebody may have pressed a button meanwhile.
      if (wantedState === sentState) wantedState = undefined;
      const etag = response.headers.get('ETag');
      if (kept?.id === own.id) keep({ id: own.id, etag, base: from.sha256, isOwn: own.isOwn });
    } catch (reason) {
      if (!isCode(reason, 'draft_changed', 'precondition_required')) {
        unconfirmed = content;
        throw reason;
      }
      const theirs = await find(own.id);
      // It was published or deleted elsewhere, so the changes of this page become a new draft.
      if (theirs === null) keep(null);
      else if (mergeWith(theirs, false)) mergedFor = reason;
      isStale = true;
    }
  };

  /** Forgets a draft whose changes were published or discarded. */
  const drop = async ({ id: of, etag }: Kept): Promise<void> => {
    if (etag !== null) {
      const request = client.json(`${path}/${of}`, { method: 'DELETE', headers: { 'If-Match': etag } });
      await request.catch((reason: unknown) => {
        // Somebody else goes on with it, it is gone already, or only its author and publishers may delete it.
        if (!isCode(reason, 'draft_changed', 'draft_not_found', 'role_required')) throw reason;
      });
    }
    keep(null);
    saved = null;
    list.value = list.value.filter((each) => each.id !== of);
  };

  const forget = (): void => {
    clearTimeout(timer);
    keep(null);
    saved = null;
    wasDirty = false;
    wantedState = undefined;
    state.value = 'none';
  };

  const saveNow = async (): Promise<void> => {
    do {
      isStale = false;
      if (kept !== null && unconfirmed !== null) {
        const theirs = await find(kept.id);
        if (theirs !== null && isEqual(theirs.found.content, unconfirmed)) mergeWith(theirs, false);
      }
      const [content, from] = [draft.content.peek(), draft.base.peek()];
      if (content === null || from?.isWhole !== true) return;
      if (draft.isDirty.peek()) {
        wasDirty = true;
        // Where the box has it begun from another version, or from one that it does not know, what is published is saved over
        // what it was compared with.
        const isRebased = publishing !== null && kept?.base !== from.sha256;
        if (isEqual(content, saved) && wantedState === undefined && !isRebased) {
          // As it was opened: who publishes it approves what its author made.
          state.value = 'saved';
          continue;
        }
        state.value = 'saving';
        await put(content, from);
        state.value = 'saved';
      } else {
        state.value = 'none';
        if (kept?.isOwn && wasDirty) await drop(kept);
        else if (wasDirty) forget();
      }
    } while (isStale);
  };
  const save = (): Promise<void> => {
    clearTimeout(timer);
    isStale = true;
    running ??= saveNow()
      .then(
        () => {
          error.value = null;
        },
        (reason: unknown) => {
          batch(() => {
            error.value = reason;
            state.value = 'failed';
          });
          timer = setTimeout(() => void save(), AGAIN_MS);
        },
      )
      .finally(() => {
        running = null;
      });
    return running;
  };

  /** Whether the tab alone has what was typed last. */
  const isUnsaved = (): boolean => draft.isDirty.peek() && !isEqual(draft.content.peek(), saved);
  effect(() => {
    const [content, from] = [draft.content.value, draft.base.value];
    if (content === null || from === null || draft.isPublishing.value) return;
    // A viewer edits nothing.
    if (!from.isWhole) return forget();
    if (isUnsaved()) {
      if (state.peek() === 'saved') state.value = 'saving';
      if (kept?.isSaved) keep(kept);
    }
    clearTimeout(timer);
    timer = setTimeout(() => void save(), REST_MS);
  });
  // A phone may end a page that is not looked at without another word.
  page.document.addEventListener('visibilitychange', () => {
    if (!page.document.hidden) return;
    if (kept !== null) keep(kept);
    if (isUnsaved() && !draft.isPublishing.peek()) void save();
  });
  page.addEventListener('pagehide', () => {
    if (kept !== null) keep(kept);
    if (isUnsaved()) onLeft();
  });

  const load = async (): Promise<void> => {
    const { drafts } = await client.json<{ drafts: DraftSummary[] }>(path);
    list.value = drafts;
  };
  const poll = async (): Promise<void> => {
    if (kept?.etag != null && running === null && draft.isDirty.peek()) {
      const { id: of } = kept;
      const theirs = await find(of, '?editing=1');
      editing.value = theirs?.found.editing ?? [];
      if (of === kept?.id && running === null) {
        if (theirs === null) {
          // What this tab has of it becomes a new draft with the next change.
          keep(null);
          saved = null;
          state.value = 'none';
        } else if (theirs.etag !== kept.etag) mergeWith(theirs, isEqual(draft.content.peek(), saved));
      }
    } else editing.value = [];
    await load();
  };

  /**
   * Saves what this tab has, which stays where the box does not take it; what is being published is published first.
   * @throws what the request throws
   */
  const settle = async (): Promise<void> => {
    do {
      await publishing?.catch(() => undefined);
      await save();
    } while (publishing !== null);
    if (state.peek() === 'failed') throw error.peek();
  };

  const publish = async (isAgain = false): Promise<void> => {
    mergedFor = null;
    await save();
    // What was looked at is what is published.
    if (mergedFor !== null) throw mergedFor;
    const own = kept;
    if (state.peek() !== 'saved' || saved === null || own?.etag == null) return draft.publish();
    const headers = { 'If-Match': own.etag };
    try {
      const send = (): Promise<PublishedContent> =>
        client.json(`${path}/${own.id}/publish`, { method: 'POST', headers, timeout: PUBLISH_MS });
      await draft.publish({ content: saved, send });
    } catch (reason) {
      if (isCode(reason, 'draft_changed', 'draft_not_found')) {
        const isNews = await fetchDraft(own.id).then(
          (theirs) => mergeWith(theirs, false),
          () => {
            keep(null);
            saved = null;
            return true;
          },
        );
        await save();
        if (!isNews && !isAgain) return publish(true);
      }
      throw reason;
    }
    // The box has removed it.
    if (kept?.id === own.id) keep(null);
    saved = null;
    list.value = list.value.filter((each) => each.id !== own.id);
  };

  return {
    list,
    id,
    state,
    error,
    editing,
    open: async (of) => {
      const { found, etag } = await fetchDraft(of);
      const current = documents.current.peek();
      const base = found.base_sha256;
      const content = found.content as ContentDocument;
      const from =
        current !== null && (base === current.sha256 || base === null)
          ? current
          : await client.json<ContentDocument>(`/console/api/content/versions/${base}`, { timeout: TIMEOUT_MS }).then(
              (version): Version => ({ sha256: base ?? '', content: version, isWhole: true }),
              (reason: unknown) => {
                // Boxes exchange drafts, but not old versions: it is compared with what plays.
                if (current === null || !isCode(reason, 'version_not_found')) throw reason;
                return current;
              },
            );
      await settle();
      // Without the right to edit, what came is not whole.
      if (!from.isWhole || draft.base.peek()?.isWhole !== true) return;
      saved = content;
      draft.rebase(from, content);
      keep({ id: of, etag, base, isOwn: false });
    },
    putAside: async () => {
      await settle();
      forget();
      draft.discard();
      // It is done, whether or not the box tells the list now.
      await load().catch(() => undefined);
    },
    remove: async (of) => {
      await client.json(`${path}/${of}`, { method: 'DELETE' });
      await load();
    },
    setState: async (next) => {
      wantedState = next;
      await save();
      await load();
    },
    publish: () => {
      publishing ??= Promise.resolve()
        .then(() => publish())
        .finally(() => {
          publishing = null;
        });
      return publishing;
    },
    forget,
    sendBack: async (of, note) => {
      const { found, etag } = await fetchDraft(of);
      const { title, base_sha256, content } = found;
      await client.json(`${path}/${of}`, {
        method: 'PUT',
        headers: etag === null ? {} : { 'If-Match': etag },
        body: { title, base_sha256, content, state: 'open', note },
        timeout: TIMEOUT_MS,
      });
      await load();
    },
    follow: () => {
      // What the box does not answer now is asked again.
      const again = (): void => void poll().catch(() => undefined);
      again();
      const polling = setInterval(again, EDITING_MS);
      return () => clearInterval(polling);
    },
  };
};
