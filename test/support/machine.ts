/** What a machine lacks: its tests are skipped by name, and fail in CI. */
export const isCi = process.env.CI === 'true';

/** Where tests may mount disks and make networks: as root, which CI on a machine of its own is, and as a runner of others is not. */
export const isRootOfCi = isCi && process.getuid?.() === 0;
