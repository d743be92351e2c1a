/** The document as it is being edited in this tab, and the version that the edit began from. */
import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { ContentVersions, PublishedContent } from '../../../service/contract/console/content.ts';
import { merge } from '../../../service/domain/merge-documents.ts';
import type { Client } from '../api/client.ts';
import { isCode } from '../api/errors.ts';
import { type ContentDocument, isEqual, type Version } from '../model/document.ts';
import type { ContentCheck } from '../model/wire.ts';
import { type ConsoleTexts, issuesOfBox } from '../texts/box.ts';
import type { Documents } from './documents.ts';
import { draftKey } from './left.ts';

export interface Draft {
  /** Null: no content is loaded yet. */
  readonly content: ReadonlySignal<ContentDocument | null>;
  /** The version that the draft began from. */
  readonly base: ReadonlySignal<Version | null>;
  readonly isDirty: ReadonlySignal<boolean>;
  /** From the request until its answer. */
  readonly isPublishing: ReadonlySignal<boolean>;
  /** What this person has begun with, and what others have changed since; null: nothing is open. */
  start(): ContentDocument | null;
  /** The newer version that was published elsewhere; null: none, or this tab is publishing. */
  readonly newer: ReadonlySignal<Version | null>;
  /**
   * Whether an edit that was published on another box at the same time has replaced what this tab published. The draft is
   * then an edit of the version before both, and {@link newer} the one that replaced it. Set to false once the person is asked.
   */
  readonly isReplaced: Signal<boolean>;
  /** Whether it was taken from an earlier version: its preview loads nothing from other hosts. */
  readonly isForeign: Signal<boolean>;
  /** The box's messages about the draft; null: not checked yet. */
  readonly check: ReadonlySignal<ContentCheck | null>;
  readonly canUndo: ReadonlySignal<boolean>;
  readonly canRedo: ReadonlySignal<boolean>;
  /** Does nothing to what is not whole. @param group consecutive edits of one group, such as the letters of a field, are undone together */
  edit(next: ContentDocument, group?: string): void;
  /** Takes over what somebody else has changed, which is no step of this person's. */
  take(next: ContentDocument): void;
  undo(): void;
  redo(): void;
  /** @returns takes the last edit back, and keeps what is done until then */
  takeBack(): () => void;
  /** Drops all edits. */
  discard(): void;
  /** Rebases onto another version, with the merged edits as `content`. */
  rebase(version: Version, content: ContentDocument): void;
  /**
   * Publishes the current draft. Edits made meanwhile are kept, as is the undo history.
   * @param stored what the box has of it, and the request that publishes that; absent: the document is sent as it is
   * @throws what the request throws
   */
  publish(stored?: { content: ContentDocument; send(): Promise<PublishedContent> }): Promise<void>;
}

interface Kept {
  base: Version;
  content: ContentDocument;
}

const MOST_STEPS = 100;
/** Pause in typing after which the draft is checked and stored, ms. */
const REST_MS = 500;
/** A large document is judged and written to disk. */
export const PUBLISH_MS = 60_000;

const recall = (storage: Storage): Kept | null => {
  try {
    const kept = JSON.parse(storage.getItem(draftKey) ?? 'null') as Kept | null;
    return kept?.base.isWhole === true ? kept : null;
  } catch {
    return null;
  }
};

/** Where the storage is full or refused, the page's memory alone has it, and nothing older is kept. */
const keep = (storage: Storage, kept: Kept | null): void => {
  try {
    if (kept === null) storage.removeItem(draftKey);
    else storage.setItem(draftKey, JSON.stringify(kept));
  } catch {
    storage.removeItem(draftKey);
  }
};

interface Dependencies {
  client: Pick<Client, 'json'>;
  documents: Documents;
  /** Null: it is kept for nobody. */
  signer: ReadonlySignal<string | null>;
  /** Keeps the draft while the tab is open, over a reload too. */
  storage: Storage;
  page: Pick<Window, 'addEventListener' | 'document'>;
  texts: Pick<ConsoleTexts, 'ofBox'>;
  /** Called when {@link Draft.isReplaced} becomes true. */
  onReplaced(): void;
}

export const createDraft = ({ client, documents, signer, storage, page, texts, onReplaced }: Dependencies): Draft => {
  const kept = recall(storage);
  const base = signal<Version | null>(kept?.base ?? null);
  const content = signal<ContentDocument | null>(kept?.content ?? null);
  const check = signal<ContentCheck | null>(null);
  const past = signal<readonly ContentDocument[]>([]);
  const future = signal<readonly ContentDocument[]>([]);
  const isPublishing = signal(false);
  const isReplaced = signal(false);
  const isForeign = signal(false);
  let lastGroup: string | undefined;
  /** The content last published from this draft: the box may have it even if no response arrived. */
  let sent: ContentDocument | null = null;
  /** The version last published from this draft, until another one plays, the version that it was an edit of, and what was sent. */
  let published: { sha256: string; from: Version; wanted: ContentDocument } | null = null;

  const isDirty = computed(() => base.value !== null && !isEqual(content.value, base.value.content));
  const newer = computed(() => {
    const current = isPublishing.value ? null : documents.current.value;
    return current !== null && base.value !== null && current.sha256 !== base.value.sha256 ? current : null;
  });

  const begin = (version: Version, next: ContentDocument): void =>
    batch(() => {
      base.value = version;
      content.value = next;
      isForeign.value = false;
      past.value = [];
      future.value = [];
      lastGroup = undefined;
      sent = null;
      // What follows is not what was published.
      published = null;
    });

  /** Makes a change of somebody else part of all steps. */
  const include = (before: ContentDocument | null, after: ContentDocument): void => {
    if (isEqual(before, after)) return;
    const withTheirs = (each: ContentDocument) => merge(before, each, after).value as ContentDocument;
    const mine = content.peek();
    past.value = past.peek().map(withTheirs);
    future.value = future.peek().map(withTheirs);
    content.value = mine && withTheirs(mine);
  };

  // A draft without edits follows what is published.
  const follow = (current: Version): void => {
    const isOther = base.peek()?.isWhole !== current.isWhole;
    if (isOther || !isDirty.peek() || isEqual(current.content, content.peek())) {
      begin(current, current.content);
    } else if (isEqual(current.content, sent)) base.value = current;
  };
  /** Whether a version that had not seen this one took its place. */
  const wasReplaced = async (sha256: string): Promise<boolean> => {
    const { versions } = await client.json<ContentVersions>('/console/api/content/versions');
    return versions.some((version) => version.sha256 === sha256 && version.replaced_by !== null);
  };
  /** As after a 412, if the version that plays now was made without what this tab published; else follows it. */
  const succeed = async (mine: NonNullable<typeof published>): Promise<void> => {
    const isLost = await wasReplaced(mine.sha256).catch(() => false);
    const [current, from] = [documents.current.peek(), base.peek()];
    const isStill = from === mine.from || from?.sha256 === mine.sha256;
    if (isLost && isStill && !isEqual(content.peek(), mine.from.content)) {
      batch(() => {
        base.value = mine.from;
        sent = null;
        published = null;
        isReplaced.value = true;
      });
      onReplaced();
    } else if (current !== null && current.sha256 !== from?.sha256) follow(current);
  };
  effect(() => {
    const current = documents.current.value;
    // The overview may report our version before the PUT responds.
    const from = base.peek();
    const isSame = current?.sha256 === from?.sha256 && current?.isWhole === from?.isWhole;
    if (isPublishing.value || current === null || isSame) return;
    const mine = current.isWhole ? published : null;
    const isAwaited = mine !== null && mine.from === from;
    if (isAwaited && mine.sha256 === current.sha256) {
      // The box may have merged it with what was published at the same moment.
      return batch(() => {
        base.value = current;
        include(mine.wanted, current.content);
      });
    }
    // An answer from before the publication says nothing of it.
    if (!isAwaited) published = null;
    if (mine !== null && (isAwaited || mine.sha256 === from?.sha256)) void succeed(mine);
    else follow(current);
  });

  let checks = 0;
  const judge = async (wanted: ContentDocument): Promise<void> => {
    checks += 1;
    const own = checks;
    const found = await client
      .json<ContentCheck>('/console/api/content/check', { method: 'POST', body: wanted, timeout: 30_000 })
      .catch(() => null);
    if (own !== checks || found === null) return;
    const { ok, errors, warnings } = found;
    check.value = { ok, errors: issuesOfBox(errors, texts), warnings: issuesOfBox(warnings, texts) };
  };
  const store = (): void => {
    const [current, from] = [content.peek(), base.peek()];
    if (current === null || from?.isWhole !== true || signer.peek() === null) return;
    keep(storage, isDirty.peek() ? { base: from, content: current } : null);
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const [current, from] = [content.value, base.value];
    clearTimeout(timer);
    if (current === null || from === null || signer.value === null) return;
    if (page.document.hidden) store();
    timer = setTimeout(() => {
      store();
      void judge(current);
    }, REST_MS);
  });
  // The last keystrokes are kept too. A phone rests the timers of a page that is not looked at, and may end it.
  page.addEventListener('pagehide', store);
  page.document.addEventListener('visibilitychange', () => page.document.hidden && store());

  const step = (from: typeof past, to: typeof past): void => {
    const next = from.value.at(-1);
    const current = content.value;
    if (next === undefined || current === null) return;
    batch(() => {
      from.value = from.value.slice(0, -1);
      to.value = [...to.value, current];
      content.value = next;
      lastGroup = undefined;
    });
  };

  const publish: Draft['publish'] = async (stored) => {
    const [from, wanted] = [base.peek(), stored?.content ?? content.peek()];
    if (from?.isWhole !== true || wanted === null || isPublishing.peek()) return;
    const put = (): Promise<PublishedContent> =>
      client.json<PublishedContent>('/console/api/content', {
        method: 'PUT',
        headers: { 'If-Match': `"${from.sha256}"` },
        body: wanted,
        timeout: PUBLISH_MS,
      });
    isPublishing.value = true;
    sent = wanted;
    lastGroup = undefined;
    try {
      const { sha256 } = await (stored?.send ?? put)();
      published = { sha256, from, wanted };
      if (stored === undefined) {
        const version = { sha256, content: wanted, isWhole: true };
        base.value = version;
        if (documents.current.peek()?.sha256 === from.sha256) documents.take(version);
      } else await documents.load();
    } catch (error) {
      if (isCode(error, 'content_changed', 'draft_conflict')) await documents.load();
      throw error;
    } finally {
      isPublishing.value = false;
    }
  };

  const edit: Draft['edit'] = (next, group) => {
    const current = content.value;
    if (current === null || base.value?.isWhole !== true || isEqual(current, next)) return;
    batch(() => {
      if (group === undefined || group !== lastGroup) past.value = [...past.value, current].slice(-MOST_STEPS);
      lastGroup = group;
      future.value = [];
      content.value = next;
    });
  };

  const take: Draft['take'] = (next) => batch(() => include(content.value, next));

  return {
    content,
    base,
    start: () => (past.peek().length < MOST_STEPS ? past.peek()[0] : undefined) ?? base.peek()?.content ?? null,
    isDirty,
    isPublishing,
    newer,
    isReplaced,
    isForeign,
    check,
    canUndo: computed(() => past.value.length > 0),
    canRedo: computed(() => future.value.length > 0),
    edit,
    take,
    undo: () => step(past, future),
    redo: () => step(future, past),
    takeBack: () => {
      const [before, after] = [past.value.at(-1), content.value];
      return () => {
        if (content.value === after) step(past, future);
        else if (before !== undefined) edit(merge(after, content.value, before).value as ContentDocument);
      };
    },
    discard: () => {
      const version = documents.current.value ?? base.value;
      if (version !== null) begin(version, version.content);
    },
    rebase: begin,
    publish,
  };
};
