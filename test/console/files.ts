/** Files that are dropped or pasted into the console. */
import type { Locator, Page } from 'playwright-core';

export interface GivenFile {
  name: string;
  type: string;
  base64: string;
}

/** Pastes files. @param text what is on the clipboard with them @returns whether the page has taken the paste */
export const pasteFiles = (into: Locator, files: readonly GivenFile[], text?: string): Promise<boolean> =>
  into.evaluate(
    (target, [given, words]) => {
      const transfer = new DataTransfer();
      for (const { name, type, base64 } of given) {
        const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
        transfer.items.add(new File([bytes], name, { type }));
      }
      if (words !== undefined) transfer.setData('text/plain', words);
      const options = { bubbles: true, cancelable: true, clipboardData: transfer };
      return !target.dispatchEvent(new ClipboardEvent('paste', options));
    },
    [files, text] as const,
  );

/** Drops files on the page as the browser does. @param on the selector of the element that they are dropped on */
export const giveFiles = (page: Page, files: readonly GivenFile[], on: string): Promise<void> =>
  page.evaluate(
    ([given, selector]) => {
      const transfer = new DataTransfer();
      for (const { name, type, base64 } of given) {
        const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
        transfer.items.add(new File([bytes], name, { type }));
      }
      const target = document.querySelector(selector) ?? document.body;
      const { left, top } = target.getBoundingClientRect();
      const options = { bubbles: true, cancelable: true, dataTransfer: transfer, clientX: left + 2, clientY: top + 2 };
      target.dispatchEvent(new DragEvent('dragover', options));
      target.dispatchEvent(new DragEvent('drop', options));
    },
    [files, on] as const,
  );
