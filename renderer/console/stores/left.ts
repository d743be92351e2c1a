/** What a tab that is closed leaves to the next one of its browser: changes that the box has not. */
export const draftKey = 'signage.console.draft';
export const savedDraftKey = 'signage.console.savedDraft';
const keys = [draftKey, savedDraftKey] as const;

/** @param tab keeps a draft over a reload @param lasting outlives the tab */
export const leave = (tab: Storage, lasting: Storage): void => {
  for (const key of keys) {
    const kept = tab.getItem(key);
    try {
      if (kept === null) lasting.removeItem(key);
      else lasting.setItem(key, kept);
    } catch {
      // It is full; the person was asked before the tab was closed.
    }
  }
};

/** Goes on with what was left, unless this tab has a draft: a page that is loaded anew leaves it to itself. */
export const takeLeft = (tab: Storage, lasting: Storage): void => {
  const isFree = tab.getItem(draftKey) === null;
  for (const key of keys) {
    const left = lasting.getItem(key);
    lasting.removeItem(key);
    if (isFree && left !== null) tab.setItem(key, left);
  }
};
