/** The keys of the devices that the displays of this box are: one Ed25519 key each (RFC 8032), by which its pages prove it. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';
import { deviceIdOf, formatProof, type ProofNeeds, proofText } from '../service/domain/device-proof.ts';
import { fileTime, timestampText } from '../service/domain/time.ts';
import { canonicalDeviceId, createQueue, previousOf, writeTwice } from '../service/public.ts';

/** `kiosk-keys.json`, and its copy: the node id that the keys were made under, and the private keys by slot, as PKCS #8 in base64. */
const storedKeys = z.object({ nodeId: z.string(), keys: z.record(z.string().regex(/^\d+$/), z.base64()) });

const publicKeyOf = (key: KeyObject): string => createPublicKey(key).export({ format: 'jwk' }).x ?? '';

export const createDeviceKeys = ({ log, dataDir }: { log: Pick<Logger, 'warn' | 'error'>; dataDir: string }) => {
  const path = join(dataDir, 'kiosk-keys.json');
  const enqueue = createQueue();
  let nodeId: string | null = null;
  let keys = new Map<number, KeyObject>();
  /** Whether the file could not be read: it is not overwritten, and is read again. */
  let isUnread = false;
  let isUnsaved = false;

  /**
   * Of another node id, as on a copied disk, the keys belong to another box. @returns null: there is no such file
   * @throws the system's error, or what is wrong with the file
   */
  const load = (file: string, wanted: string): Map<number, KeyObject> | null => {
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
    const stored = storedKeys.parse(JSON.parse(text));
    if (stored.nodeId !== wanted) return new Map();
    return new Map(
      Object.entries(stored.keys).map(([slot, key]) => [
        Number(slot),
        createPrivateKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'pkcs8' }),
      ]),
    );
  };

  const loadCopy = (wanted: string): Map<number, KeyObject> | null => {
    try {
      return load(previousOf(path), wanted);
    } catch {
      return null;
    }
  };

  /** @returns null: the file cannot be read now */
  const read = (wanted: string): Map<number, KeyObject> | null => {
    let damage: unknown = null;
    try {
      const found = load(path, wanted);
      if (found !== null) {
        isUnsaved ||= !existsSync(previousOf(path));
        return found;
      }
    } catch (error) {
      damage = error;
    }
    const copy = loadCopy(wanted);
    if (damage !== null) {
      const { code, syscall } = damage as NodeJS.ErrnoException;
      try {
        // What the file holds is damaged only where the system has read it, or never will.
        if (syscall !== undefined && (code !== 'EIO' || copy === null)) throw damage;
        renameSync(path, `${path}.corrupt-${fileTime(Date.now())}`);
      } catch (error) {
        if (!isUnread)
          log.error({ err: error, path }, 'the keys of the displays cannot be read now; others serve meanwhile');
        return null;
      }
      const source = copy === null ? 'new ones are made' : 'their copy is used';
      log.warn({ err: damage, path }, `the keys of the displays cannot be read, so ${source}`);
    }
    isUnsaved ||= copy !== null;
    return copy ?? new Map();
  };

  const save = (): void => {
    const stored = [...keys].map(([slot, key]) => [
      slot,
      key.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    ]);
    const text = `${JSON.stringify({ nodeId, keys: Object.fromEntries(stored) })}\n`;
    const wasUnsaved = isUnsaved;
    isUnsaved = false;
    enqueue(() => writeTwice(path, text)).catch((error: unknown) => {
      isUnsaved = true;
      if (wasUnsaved) return;
      log.error({ err: error }, 'the keys of the displays could not be saved; after a restart they are other devices');
    });
  };

  const keyOf = (slot: number, wanted: string): KeyObject => {
    if (nodeId !== wanted || isUnread) {
      const found = read(wanted);
      isUnread = found === null;
      if (found !== null || nodeId !== wanted) keys = found ?? loadCopy(wanted) ?? new Map();
      nodeId = wanted;
    }
    const known = keys.get(slot);
    const key = known ?? generateKeyPairSync('ed25519').privateKey;
    keys.set(slot, key);
    if (!isUnread && (known === undefined || isUnsaved)) save();
    return key;
  };

  return {
    /** Whether the keys could not be read or saved, which the next use tries again. */
    isPending: (): boolean => isUnread || isUnsaved,
    /** The device id of a display by its slot; made with its key on first use. */
    idOf: (slot: number, nodeId: string): string =>
      deviceIdOf(
        createHash('sha256')
          .update(Buffer.from(publicKeyOf(keyOf(slot, nodeId)), 'base64url'))
          .digest(),
      ),
    /**
     * A proof that the page of a display is its device, as in `x-signage-device-proof`.
     * @throws Error for another box than this one
     */
    prove: (slot: number, deviceId: string, { nodeId: wanted, time }: ProofNeeds, nodeId: string): string => {
      if (wanted !== nodeId) throw new Error('proofs are made for this box alone');
      const key = keyOf(slot, nodeId);
      const at = timestampText(time);
      const nonce = randomBytes(18).toString('base64url');
      const text = proofText({ deviceId: canonicalDeviceId(deviceId), nodeId }, { at, nonce });
      return formatProof({
        key: publicKeyOf(key),
        at,
        nonce,
        signature: sign(null, Buffer.from(text), key).toString('base64url'),
      });
    },
  };
};
