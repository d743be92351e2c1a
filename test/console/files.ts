/** Files that are dropped or pasted into the console. */
import type { Page } from 'playwright-core';

export interface GivenFile {
  name: string;
  type: string;
  base64: string;
}

/** Gives files to the page as the browser does. @param on the selector of the element that they are dropped on; null: pasted */
export const giveFiles = (page: Page, files: readonly GivenFile[], on: string | null): Promise<void> =>
  page.evaluate(
    ([given, selector]) => {
      const transfer = new DataTransfer();
      for (const { name, type, base64 } of given) {
        const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
        transfer.items.add(new File([bytes], name, { type }));
      }
      if (selector === null) {
        document.body.dispatchEvent(
          Object.assign(new Event('paste', { bubbles: true, cancelable: true }), { clipboardData: transfer }),
        );
        return;
      }
      const target = document.querySelector(selector) ?? document.body;
      const { left, top } = target.getBoundingClientRect();
      const options = { bubbles: true, cancelable: true, dataTransfer: transfer, clientX: left + 2, clientY: top + 2 };
      target.dispatchEvent(new DragEvent('dragover', options));
      target.dispatchEvent(new DragEvent('drop', options));
    },
    [files, on] as const,
  );
