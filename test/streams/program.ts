/** Something that stands for ffmpeg, and notes what it is run with. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/service.ts';

/** A program that says that it is ffmpeg, and then waits: nothing ever comes of its stream. */
export const standIn = () => {
  const folder = temporaryFolder();
  const path = join(folder, 'ffmpeg');
  const notes = join(folder, 'notes');
  const script = `[ "$1" = -version ] && echo ffmpeg version 9-test && exit\necho "$@" >> '${notes}'\nexec /bin/sleep 60\n`;
  writeFileSync(path, `#!/bin/sh\n${script}`);
  chmodSync(path, 0o755);
  return {
    path,
    /** The arguments of each run. */
    runs: (): string[] => (existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n') : []),
  };
};
