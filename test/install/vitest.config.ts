import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Installs the package into real systems: as root, with debootstrap and an archive of Debian. Not part of `npm test`. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/install/*.install.ts'],
    testTimeout: 900_000,
    hookTimeout: 900_000,
    fileParallelism: false,
  },
});
