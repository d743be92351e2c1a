/** How a person joins with an invitation: the texts that the console, the command line and the box agree on. */

/** `info` of HKDF-SHA256 (RFC 5869), with an empty salt and the code as written: 32 bytes, the key of the proof. */
export const joinInfo = 'signage-join-v1';

/** The text whose HMAC-SHA256 proves that somebody knows the code. @param publicKey base64url */
export const joinText = (person: string, publicKey: string, device: string): string =>
  [joinInfo, person, publicKey, device].join('\n');

/** The fragment of an invitation, and what it holds; null: it is none. */
export const readInvitation = (fragment: string): { person: string; code: string } | null => {
  const [, person, code] = /^#join=([a-z0-9-]{1,64})\.([A-Z2-7]{26})$/.exec(fragment) ?? [];
  return person === undefined || code === undefined ? null : { person, code };
};

export const invitationFragment = (person: string, code: string): string => `#join=${person}.${code}`;

/**
 * How a person takes their place from the http page of the console to the secure one, by fragments: the secure page makes a key,
 * the http page adds it with its own, and the secure one removes that.
 */
export type Handover =
  | { step: 'device' }
  | { step: 'add'; publicKey: string }
  /** @param keyId of the http page */
  | { step: 'added'; keyId: string };

/** Null: the fragment is no step of a handover. */
export const readHandover = (fragment: string): Handover | null => {
  if (fragment === '#device') return { step: 'device' };
  const [, publicKey] = /^#add=([\w-]{43})$/.exec(fragment) ?? [];
  if (publicKey !== undefined) return { step: 'add', publicKey };
  const [, keyId] = /^#added=([0-9a-f]{32})$/.exec(fragment) ?? [];
  return keyId === undefined ? null : { step: 'added', keyId };
};
