import { createHash } from 'node:crypto';
import { z } from 'zod';

/** A number that changes only when older versions of the service can't read what newer ones write. */
const format = 1;

const envelope = z.object({
  format: z.literal(format),
  seq: z.int().positive().describe('the generation, counted from 1'),
  savedAt: z.string().describe('ISO 8601, for people'),
  sha256: z.string().describe('of the body as JSON.stringify writes it, so that reformatting by hand does no harm'),
  body: z.unknown(),
});

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Wraps a body so that {@link unseal} can tell it from a damaged one. `savedAt` is in ms since the epoch. */
export function seal(body: unknown, seq: number, savedAt: number): Buffer {
  const text = JSON.stringify(body);
  const head = JSON.stringify({ format, seq, savedAt: new Date(savedAt).toISOString(), sha256: sha256(text) });
  return Buffer.from(`${head.slice(0, -1)},"body":${text}}\n`);
}

/** @throws where this is no whole envelope, or its body not the one that was sealed */
export function unseal(bytes: Buffer): { seq: number; body: unknown } {
  const { seq, body, sha256: expected } = envelope.parse(JSON.parse(bytes.toString('utf8')));
  if (sha256(JSON.stringify(body)) !== expected) throw new Error('the checksum does not match');
  return { seq, body };
}
