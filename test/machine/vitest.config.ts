import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { findProgram } from '../support/program.ts';

const programs = ['setpriv', 'qemu-system-x86_64', 'mmdebstrap', 'sfdisk', 'mkfs.vfat', 'mke2fs', 'mcopy', 'ssh'];
process.env.PATH += ':/usr/sbin:/sbin';
const missing = programs.filter((name) => findProgram(name) === undefined);
if (missing.length > 0 || process.getuid?.() !== 0) {
  const reason = missing.length > 0 ? `${missing.join(', ')} is missing` : 'it builds systems as root';
  console.log(`No machine is started: ${reason}.`);
  process.exit(0);
}

/**
 * Starts a virtual machine with Debian and the package. Not part of `npm test`. A file is a case: all share one machine, so
 * they run one after the other, in the order of their names. `--mode soak` runs what takes hours.
 */
export default defineConfig(({ mode }) => ({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: [`test/machine/${mode === 'soak' ? 'soak' : 'cases'}/*.ts`],
    // The image is built for minutes: where it is named, `-- image`.
    exclude: process.argv.includes('image') ? [] : ['test/machine/cases/90-image.ts'],
    testTimeout: 3_600_000,
    hookTimeout: 3_600_000,
    isolate: false,
    fileParallelism: false,
    maxWorkers: 1,
    sequence: {
      sequencer: class {
        shard = <Specification>(files: Specification[]): Specification[] => files;
        sort = <Specification extends { moduleId: string }>(files: Specification[]): Specification[] =>
          files.toSorted((a, b) => a.moduleId.localeCompare(b.moduleId));
      },
    },
  },
}));
