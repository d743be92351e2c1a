/** The demo content, which plays until the operator has any. */
import { copyFile, cp, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing } from '../platform/store/disk.ts';
import { makeFolder } from '../platform/store/folder.ts';

interface Demo {
  /** `content.json` and `media/`. */
  demoDir: string;
  /** The media are copied to this folder. */
  mediaDir: string;
}

const demoOf = ({ demoDir }: Pick<Demo, 'demoDir'>): string => join(demoDir, 'content.json');

/** Writes the demo if there is no file at `path`. */
export const writeDemo = async (path: string, demo: Demo): Promise<void> => {
  const isAbsent = await stat(path).then(() => false, isMissing);
  if (!isAbsent) return;
  const { demoDir, mediaDir } = demo;
  await makeFolder(mediaDir);
  await cp(join(demoDir, 'media'), mediaDir, { recursive: true, force: false });
  // Last, and atomic: after an interrupted first start the next start writes the demo again.
  await copyFile(demoOf(demo), `${path}.new`);
  await rename(`${path}.new`, path);
};

/** Whether the bytes are those of the unedited demo. */
export const isDemo = async (bytes: Buffer, demo: Pick<Demo, 'demoDir'>): Promise<boolean> =>
  readFile(demoOf(demo)).then(
    (demoFile) => bytes.equals(demoFile),
    () => false,
  );
