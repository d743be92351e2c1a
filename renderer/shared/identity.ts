import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { clientIdOf } from '../../service/domain/client-id.ts';
import { readDeviceId } from './device.ts';
import { recall, remember } from './storage.ts';

export interface Identity {
  clientId: string;
  /** Proves the client id to the service; kept secret from everyone else. */
  clientKey: string;
  deviceId: string;
  clientName: string | null;
}

/** `crypto.randomUUID` requires a secure context, which plain http on a LAN is not. */
const randomKey = (): string => bytesToHex(crypto.getRandomValues(new Uint8Array(16)));

/** `crypto.subtle` requires a secure context too. */
const hash = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)));

const clientKeyKey = 'signage.clientKey';
const nameKey = 'signage.clientName';

/** The identity of this page, stable across reloads. The kiosk passes its device id in the address. */
export const readIdentity = (search: string): Identity => {
  const clientKey = recall(clientKeyKey) ?? randomKey();
  remember(clientKeyKey, clientKey);
  const clientId = clientIdOf(clientKey, hash);
  // For operators who look up the id that a command targets.
  remember('signage.clientId', clientId);
  return { clientId, clientKey, deviceId: readDeviceId(search), clientName: recall(nameKey) };
};

export const rememberName = (clientName: string): void => remember(nameKey, clientName);
