import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createQueue } from '../queue.ts';
import { rewriteFile } from '../store/rewrite.ts';

/** Of the process, which has one `config.json`: a change of the kiosk must not undo one of the service, which writes a secret. */
const enqueue = createQueue();

/**
 * Changes `config.json`, one caller after the other. The file is replaced atomically and durably; its symbolic link, owner and
 * permissions stay, and a new file is for this user alone.
 * @param make reads what is there, and returns the new content; null: nothing is written
 * @returns whether it was written
 * @throws what `make` throws, or the system's error; the old file is intact then
 */
export const changeConfig = (path: string, make: () => Promise<Uint8Array | string | null>): Promise<boolean> =>
  enqueue(async () => {
    const content = await make();
    if (content === null) return false;
    await mkdir(dirname(path), { recursive: true });
    await rewriteFile(path, Buffer.from(content), 0o600);
    return true;
  });
