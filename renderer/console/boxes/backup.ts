/** Backup and restore of the answering box, as a browser can carry them. */
import type { Restored } from '../../../service/contract/console/backup.ts';
import { confirmHeader, tarType } from '../../../service/contract/console/backup-names.ts';
import type { Client } from '../api/client.ts';
import { Unreachable } from '../api/errors.ts';
import { hashOf, sendFile } from '../stores/uploads.ts';
import { saveFile } from '../ui/save-file.ts';

/** For so long a box may read its disk before it sends or answers anything, ms. */
const DISK_MS = 600_000;
/** Chunks that become a blob, which the browser may keep on its disk. */
const CHUNKS = 256;

/**
 * Has the browser save a backup.
 * @returns its size, bytes
 * @throws Refusal, Unreachable, also where it ends early
 */
export const saveBackup = async (client: Client, name: string, onBytes: (count: number) => void): Promise<number> => {
  const response = await client.stream('/console/api/backup', { timeout: DISK_MS });
  const blobs: Blob[] = [];
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  try {
    for (let read = await reader?.read(); read?.value !== undefined; read = await reader?.read()) {
      chunks.push(read.value);
      size += read.value.length;
      if (chunks.length < CHUNKS) continue;
      blobs.push(new Blob(chunks.splice(0)));
      onBytes(size);
    }
  } catch (error) {
    throw new Unreachable('The backup ended early.', { cause: error });
  }
  saveFile(name, new Blob([...blobs, ...chunks], { type: tarType }));
  return size;
};

export type RestoreStep = { step: 'reading' | 'sending'; share: number } | { step: 'checking' };

/** Restores a backup. @throws Refusal, Unreachable, Unproven; Error that the file cannot be read */
export const restoreBackup = async (
  client: Client,
  file: File,
  onStep: (step: RestoreStep) => void,
): Promise<Restored> => {
  const share = (bytes: number): number => bytes / Math.max(1, file.size);
  const path = '/console/api/restore';
  const sha256 = await hashOf(file, new AbortController().signal, (bytes) =>
    onStep({ step: 'reading', share: share(bytes) }),
  );
  const onProgress = (bytes: number): void =>
    onStep(bytes < file.size ? { step: 'sending', share: share(bytes) } : { step: 'checking' });
  const response = await client.upload(
    path,
    sha256,
    (headers) => sendFile(path, file, { method: 'POST', headers, stillMs: DISK_MS, onProgress }),
    { method: 'POST', headers: { 'Content-Type': tarType, [confirmHeader]: 'restore' } },
  );
  return (await response.json()) as Restored;
};
