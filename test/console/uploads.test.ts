/** The queue of uploads, without a browser. */
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Client } from '../../renderer/console/api/client.ts';
import { createUploads } from '../../renderer/console/stores/uploads.ts';
import { patience } from '../support/observe.ts';

test('two files are sent at a time, and each that waits is signed when its turn comes', async () => {
  vi.stubGlobal(
    'Worker',
    class extends EventTarget {
      postMessage(): void {
        this.dispatchEvent(Object.assign(new Event('message'), { data: { sha256: 'a'.repeat(64) } }));
      }
      terminate(): void {}
    },
  );
  onTestFinished(() => void vi.unstubAllGlobals());
  const sent: (() => void)[] = [];
  const upload = (): Promise<void> => new Promise((resolve) => sent.push(resolve));
  const client = { upload } as unknown as Client;
  const uploads = createUploads({ client, hasFile: async () => false, onDone: () => undefined });
  uploads.add(Array.from({ length: 5 }, (_, n) => new File(['x'], `${n}.txt`)));
  for (const count of [2, 3, 4, 5]) {
    await expect.poll(() => sent.length, patience).toBe(count);
    expect(uploads.list.value.filter(({ state }) => state === 'sending').length).toBe(2);
    sent[count - 2]?.();
  }
  sent.at(-1)?.();
  await expect.poll(() => uploads.list.value.every(({ state }) => state === 'done'), patience).toBe(true);
});
