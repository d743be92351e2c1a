/** Authentication and authorization: signed requests, page tokens, and replay protection. */
import type { Logger } from 'pino';
import type { Closers } from '../platform/closers.ts';
import type { Options } from '../platform/options/index.ts';
import { createAccess } from './access.ts';
import type { Keyring } from './person-keys.ts';
import { openReplayGuard } from './replay.ts';

export { openLocalToken } from './local-token.ts';

interface Dependencies {
  options: Pick<Options, 'dataDir' | 'sharedSecret' | 'sharedSecretPrevious' | 'pageTokenSeconds'>;
  ids: { nodeId: string };
  log: Logger;
  now(): number;
  keep: Closers['lasting'];
}

/** Opens the replay guard, where there is a secret. */
export const openAccess = async (
  { options, ids: { nodeId }, log, now, keep }: Dependencies,
  keyring: Keyring | null,
) => {
  const { dataDir, sharedSecret: secret, sharedSecretPrevious: previous, pageTokenSeconds } = options;
  const guard = secret === null ? null : keep(await openReplayGuard({ dataDir, log, now }));
  return createAccess({ secret, previous, nodeId, pageTokenSeconds, guard, keyring, now, log });
};
