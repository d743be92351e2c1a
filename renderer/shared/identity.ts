import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { readableId } from '../../service/contract/readable.ts';
import { clientIdOf } from '../../service/domain/client-id.ts';
import { recall, remember } from './storage.ts';

export interface Identity {
  clientId: string;
  /** Proves the client id to the service; kept secret from everyone else. */
  clientKey: string;
  deviceId: string;
  clientName: string | null;
}

/** `crypto.randomUUID` requires a secure context, which plain http on a LAN is not. */
const randomBytes = (length: number): number[] => Array.from(crypto.getRandomValues(new Uint8Array(length)));

const randomKey = (): string => bytesToHex(crypto.getRandomValues(new Uint8Array(16)));

/** `crypto.subtle` requires a secure context too. */
const hash = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)));

const lasting = (key: string, make: () => string, given: string | null = null): string => {
  const value = given ?? recall(key) ?? make();
  remember(key, value);
  return value;
};

const deviceKey = 'signage.deviceId';
const nameKey = 'signage.clientName';

/** The identity of this page, stable across reloads. The kiosk passes its device id in the URL. */
export const readIdentity = (search: string): Identity => {
  const given = new URLSearchParams(search).get('deviceId');
  const clientKey = lasting('signage.clientKey', randomKey);
  const clientId = clientIdOf(clientKey, hash);
  // For operators who look up the id that a command targets.
  remember('signage.clientId', clientId);
  return {
    clientId,
    clientKey,
    deviceId: lasting(
      deviceKey,
      () => readableId(randomBytes(12)),
      given !== null && /^[A-Za-z0-9._:-]{1,128}$/.test(given) ? given : null,
    ),
    clientName: recall(nameKey),
  };
};

/** Whether this browser has stored the device id as its own. */
export const isOwnDevice = (deviceId: string): boolean => recall(deviceKey) === deviceId;

export const rememberName = (clientName: string): void => remember(nameKey, clientName);
