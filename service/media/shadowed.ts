import { stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { systemDisk } from '../platform/store/disk.ts';

/** Deletes an upload and syncs the folder. @throws the system's error */
export const removeUpload = async (uploadDir: string, name: string): Promise<void> => {
  await unlink(join(uploadDir, name));
  await systemDisk.syncFolder(uploadDir);
};

/** Deletes an upload that hides a copy at least as new in the media directory, such as a peer's newer upload. */
export const removeShadowedUpload = async (
  { uploads, media }: { uploads: string; media: string },
  name: string,
): Promise<void> => {
  const [upload, copy] = await Promise.all(
    [uploads, media].map((folder) => stat(join(folder, name)).catch(() => null)),
  );
  if (upload?.isFile() && copy?.isFile() && copy.mtime >= upload.mtime) await removeUpload(uploads, name);
};
