import { recall, remember } from './storage.ts';

export interface Identity {
  clientId: string;
  deviceId: string;
  clientName: string | null;
}

/** `crypto.randomUUID` wants a secure context, which plain http on a LAN is not. */
const randomId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

const lasting = (key: string, given: string | null = null): string => {
  const value = given ?? recall(key) ?? randomId();
  remember(key, value);
  return value;
};

const nameKey = 'signage.clientName';

/** Who this page is: the same after every reload. The kiosk gives its device id in the address. */
export const readIdentity = (search: string): Identity => {
  const given = new URLSearchParams(search).get('deviceId');
  return {
    clientId: lasting('signage.clientId'),
    deviceId: lasting('signage.deviceId', given !== null && /^[A-Za-z0-9._:-]{1,128}$/.test(given) ? given : null),
    clientName: recall(nameKey),
  };
};

export const rememberName = (clientName: string): void => remember(nameKey, clientName);
