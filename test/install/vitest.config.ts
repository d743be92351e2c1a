import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** The releases of Debian that the package is tried on. */
const releases = (process.env['SIGNAGE_INSTALL_RELEASES'] ?? 'bookworm,trixie').split(',');

/**
 * Installs the package into real systems: as root, with debootstrap and an archive of Debian. Not part of `npm test`. The
 * releases run side by side, since most of a test waits for a boot.
 */
export default defineConfig({
  test: {
    maxWorkers: 4,
    projects: releases.map((release) => ({
      test: {
        name: release,
        root: fileURLToPath(new URL('../..', import.meta.url)),
        include: ['test/install/*.install.ts'],
        globalSetup: ['test/install/base.ts'],
        provide: { release },
        testTimeout: 900_000,
        hookTimeout: 900_000,
      },
    })),
  },
});
