/**
 * What a box keeps encrypted on its disk: with a random key of its own, so that changing the secret loses nothing. It
 * protects copies of single files, such as those of a backup, and not the disk: the key lies on it, too.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';
import { isMissing, isShortage, systemDisk } from './disk.ts';
import { keepCopy } from './file.ts';

/** In the data directory, mode 0600. */
const sealKeyFile = 'seal-key';

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const header = Buffer.from(JSON.stringify({ alg: 'dir', enc: 'A256GCM' })).toString('base64url');

/**
 * The key of this box, which is made at the first start. If it cannot be read, a new one takes its place, and what was
 * sealed with it is lost here: a broken disk must not keep the box from playing. If it cannot be written, it lasts until the
 * service ends.
 * @throws the system's error if the process was out of something, so that the key cannot be read now
 */
export const openSealKey = async ({
  dirs,
  log,
}: {
  dirs: { data: string };
  log: Pick<Logger, 'error'>;
}): Promise<Buffer> => {
  const path = join(dirs.data, sealKeyFile);
  try {
    const found = Buffer.from((await systemDisk.readFile(path)).toString().trim(), 'base64url');
    if (found.length === KEY_BYTES) return found;
    log.error({ file: path }, 'the key of sealed records is damaged, and a new one takes its place');
  } catch (error) {
    if (isShortage(error)) throw error;
    if (!isMissing(error)) {
      log.error({ err: error, file: path }, 'the key of sealed records cannot be read, and a new one takes its place');
    }
  }
  const key = randomBytes(KEY_BYTES);
  try {
    await keepCopy(systemDisk, path, Buffer.from(`${key.toString('base64url')}\n`));
    await systemDisk.syncFolder(dirs.data);
  } catch (error) {
    log.error({ err: error, file: path }, 'the key of sealed records could not be written');
  }
  return key;
};

/** @returns a compact JWE (RFC 7516, `dir` with A256GCM) */
export const sealText = (key: Buffer, text: string): string => {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(header));
  const bytes = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return [header, '', ...[iv, bytes, cipher.getAuthTag()].map((part) => part.toString('base64url'))].join('.');
};

/** @throws Error if it was sealed with another key, or altered */
export const openText = (key: Buffer, sealed: string): string => {
  const [head = '', wrapped, ...parts] = sealed.split('.');
  const [iv, bytes, tag] = parts.map((part) => Buffer.from(part, 'base64url'));
  const isWhole = wrapped === '' && parts.length === 3 && iv?.length === IV_BYTES && tag?.length === TAG_BYTES;
  if (!isWhole || bytes === undefined) throw new Error('this is no sealed text');
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(head));
  decipher.setAuthTag(tag);
  return Buffer.concat([decipher.update(bytes), decipher.final()]).toString('utf8');
};

/** A schema whose values are sealed where they are encoded. @param schema of values that are plain JSON */
export const sealedWith = <T>(key: Buffer, schema: z.ZodType<T>): z.ZodType<T> =>
  z.codec(z.string(), schema as z.ZodType<T, T>, {
    decode: (sealed) => JSON.parse(openText(key, sealed)) as T,
    encode: (value) => sealText(key, JSON.stringify(value)),
  });
