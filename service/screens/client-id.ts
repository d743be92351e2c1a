/**
 * Client ids stand in the public snapshot, so anyone can send one. An id that a page made from a key proves itself: it is
 * the key's hash, and only the page has the key. Other ids are taken as they come.
 */
import { createHash } from 'node:crypto';
import { clientIdOf, keyedIdPrefix } from '../domain/client-id.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Whether a page may have this id: one that was made from a key needs the key. */
export const isOwnClientId = (clientId: string, clientKey: string | null | undefined): boolean =>
  !clientId.startsWith(keyedIdPrefix) || (clientKey != null && clientIdOf(clientKey, sha256) === clientId);
