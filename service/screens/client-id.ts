/**
 * Client ids are part of the public snapshot, so any client can send any of them. An id derived from a key is protected: it
 * is the hash of the key, and only its page has the key. Other ids are accepted unchecked.
 */
import { createHash } from 'node:crypto';
import { clientIdOf, keyedIdPrefix } from '../domain/client-id.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Whether a page may use this id: an id that is derived from a key requires the key. */
export const isOwnClientId = (clientId: string, clientKey: string | null | undefined): boolean =>
  !clientId.startsWith(keyedIdPrefix) || (clientKey != null && clientIdOf(clientKey, sha256) === clientId);
