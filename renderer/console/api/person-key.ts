/** The key of a person in this browser: made here, and kept in the storage of this origin; its private half stays here. */
import { sha256, sha512 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { PersonSigner } from '../../../service/domain/request-signature.ts';
import { base64url } from '../../shared/base64url.ts';

export interface PersonKey extends PersonSigner {
  /** Of the person, as others see it. */
  name: string;
  /** Id of the person; absent: the box has not told it yet. */
  person?: string | null | undefined;
}

/** A new key, before anybody is known to own it. */
export interface NewKey {
  /** 32 bytes, base64url. */
  publicKey: string;
  privateKey: CryptoKey | Uint8Array<ArrayBuffer>;
}

interface StoredKey extends NewKey {
  name: string;
  person?: string | null | undefined;
}

const STORE = 'keys';
const ID = 'person';

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(text, (byte) => byte.charCodeAt(0));

/** Over plain http there is no `crypto.subtle`. */
const ed25519 = async () => {
  const library = await import('@noble/ed25519');
  library.hashes.sha512 = sha512;
  return library;
};

/** Makes a key: one that no script can read where the browser can, else one of the library. */
export const makeKey = async (): Promise<NewKey> => {
  const { subtle } = crypto as { subtle?: SubtleCrypto };
  if (subtle !== undefined) {
    try {
      const pair = await subtle.generateKey('Ed25519', false, ['sign', 'verify']);
      const publicKey = base64url(new Uint8Array(await subtle.exportKey('raw', pair.publicKey)));
      return { publicKey, privateKey: pair.privateKey };
    } catch {
      // The browser does not know this kind of key.
    }
  }
  const { utils, getPublicKey } = await ed25519();
  const privateKey = Uint8Array.from(utils.randomSecretKey());
  return { publicKey: base64url(getPublicKey(privateKey)), privateKey };
};

/** The id of a key, which is its fingerprint. @param publicKey base64url */
export const keyIdOf = (publicKey: string): string =>
  bytesToHex(sha256(bytesOf(atob(publicKey.replaceAll('-', '+').replaceAll('_', '/'))))).slice(0, 32);

export const signerOf = ({ publicKey, privateKey, name, person }: StoredKey): PersonKey => ({
  name,
  person,
  keyId: keyIdOf(publicKey),
  sign: async (text) => {
    const bytes = bytesOf(text);
    if (privateKey instanceof Uint8Array) return base64url((await ed25519()).sign(bytes, privateKey));
    return base64url(new Uint8Array(await crypto.subtle.sign('Ed25519', privateKey, bytes)));
  },
});

const settled = <Result>(request: IDBRequest<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

const withStore = async <Result>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<Result>) => {
  const opening = indexedDB.open('signage.console', 1);
  opening.onupgradeneeded = () => void opening.result.createObjectStore(STORE);
  const database = await settled(opening);
  try {
    return await settled(work(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
};

/** The key that this browser keeps; null: none, or the browser stores nothing. */
export const readPersonKey = async (): Promise<PersonKey | null> => {
  try {
    const stored = (await withStore('readonly', (store) => store.get(ID))) as StoredKey | undefined;
    return stored === undefined ? null : signerOf(stored);
  } catch {
    return null;
  }
};

/** Keeps a key. If the browser stores nothing, it lasts as long as the page. */
export const keepPersonKey = async (
  key: NewKey,
  name: string,
  person: string | null | undefined,
): Promise<PersonKey> => {
  const stored = { ...key, name, person };
  await withStore('readwrite', (store) => store.put(stored, ID)).catch(() => undefined);
  return signerOf(stored);
};

const newKeyAt = <Key extends NewKey>(id: string) => ({
  /** Keeps a new key over a change of the page. @throws the browser's error if it stores nothing */
  keep: (key: Key): Promise<unknown> => withStore('readwrite', (store) => store.put(key, id)),
  /** The key that was kept so; null: there is none. */
  read: async (): Promise<Key | null> =>
    ((await withStore('readonly', (store) => store.get(id)).catch(() => undefined)) as Key | undefined) ?? null,
  forget: (): Promise<unknown> => withStore('readwrite', (store) => store.delete(id)).catch(() => undefined),
});

/** The key that the secure page has made, on its way over the http page. */
export const pendingKey = newKeyAt('pending');

/** A key with which a join was asked for, and what was sent. */
export interface JoiningKey extends NewKey {
  device: string;
  /** Made with the code, so that nobody without it can put a key here for the next join. */
  proof: string;
}

/** The key of a join whose answer has not come: the box may know it by now. */
export const joiningKey = newKeyAt<JoiningKey>('joining');

/** Forgets the key of this id; a newer key in its place stays. */
export const forgetPersonKey = async (keyId: string): Promise<void> => {
  if ((await readPersonKey())?.keyId === keyId)
    await withStore('readwrite', (store) => store.delete(ID)).catch(() => undefined);
};
