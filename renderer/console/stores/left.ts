/** What a tab keeps of its draft, and what one that is closed leaves to the next one of its signer: changes that the box has not. */

/** In the storage of a tab. */
export const draftKey = 'signage.console.draft';
export const savedDraftKey = 'signage.console.savedDraft';
/** Whose they are. */
const signerKey = 'signage.console.draftSigner';
/** Where it has left them, while its page is not there. */
const leftKey = 'signage.console.left';
/** In the storage that outlives tabs: one value for each time that a page was left. */
const prefix = 'signage.console.left.';

const MOST_AGE_MS = 7 * 86_400_000;

interface Left {
  draft: string;
  savedDraft: string | null;
  signer: string;
  /** When the page was left, ms since the epoch. */
  at: number;
}

const read = (lasting: Storage, key: string): Left | null => {
  try {
    return JSON.parse(lasting.getItem(key) ?? 'null') as Left | null;
  } catch {
    return null;
  }
};

/** Everything that was left, by its key. */
const allLeft = (lasting: Storage): [key: string, left: Left | null][] =>
  Object.keys(lasting).flatMap((key) => (key.startsWith(prefix) ? [[key, read(lasting, key)]] : []));

const clear = (tab: Storage): void => {
  for (const key of [draftKey, savedDraftKey, signerKey]) tab.removeItem(key);
};

/** @param tab keeps a draft over a reload @param lasting outlives the tab */
export const leave = (tab: Storage, lasting: Storage, now: number): void => {
  const [draft, savedDraft, signer] = [draftKey, savedDraftKey, signerKey].map((key) => tab.getItem(key));
  if (draft == null || signer == null) return;
  const key = `${prefix}${now.toString(36)}-${Math.random().toString(36).slice(2)}`;
  try {
    tab.setItem(leftKey, key);
    lasting.setItem(key, JSON.stringify({ draft, savedDraft: savedDraft ?? null, signer, at: now } satisfies Left));
  } catch {
    // It is full; the person was asked before the tab was closed.
  }
};

/** Takes back what this tab has left: its page is there again. */
export const takeBackLeft = (tab: Storage, lasting: Storage): void => {
  const own = tab.getItem(leftKey);
  if (own !== null) lasting.removeItem(own);
  tab.removeItem(leftKey);
};

/** Before the draft of a page begins: it goes on with its own, or else with the newest that the same signer has left. */
export const takeLeft = (tab: Storage, lasting: Storage, signer: string, now: number): void => {
  takeBackLeft(tab, lasting);
  if (tab.getItem(signerKey) !== signer) clear(tab);
  let newest: { key: string; left: Left } | undefined;
  for (const [key, left] of allLeft(lasting)) {
    if (left === null || !(now - left.at < MOST_AGE_MS)) lasting.removeItem(key);
    else if (left.signer === signer && left.at > (newest?.left.at ?? Number.NEGATIVE_INFINITY)) newest = { key, left };
  }
  try {
    tab.setItem(signerKey, signer);
    if (newest === undefined || tab.getItem(draftKey) !== null) return;
    const { draft, savedDraft } = newest.left;
    tab.setItem(draftKey, draft);
    if (savedDraft !== null) tab.setItem(savedDraftKey, savedDraft);
    lasting.removeItem(newest.key);
  } catch {
    // The tab has no room for it; it is left to another one.
    clear(tab);
  }
};

/** What the tab keeps from now on is of this signer. */
export const claim = (tab: Storage, signer: string): void => {
  try {
    tab.setItem(signerKey, signer);
  } catch {
    // It keeps nothing.
  }
};

/** Forgets the drafts of a signer who has gone; until somebody claims it, the tab leaves nothing. */
export const forgetLeft = (tab: Storage, lasting: Storage, signer: string): void => {
  clear(tab);
  for (const [key, left] of allLeft(lasting)) if (left?.signer === signer) lasting.removeItem(key);
};
