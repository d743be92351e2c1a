import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { EpochMs } from '../../domain/time.ts';

/** Incremented when older versions of the service cannot read everything that newer versions write. */
export const currentFormat = 1;

const envelope = z.object({
  format: z.literal(currentFormat),
  seq: z.int().positive().describe('the generation, counted from 1'),
  savedAt: z.string().describe('ISO 8601, for people'),
  sha256: z.string().describe('of the body as JSON.stringify writes it, so that reformatting does not invalidate it'),
  body: z.unknown(),
});

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Wraps a body so that {@link unseal} detects damage. */
export const seal = (body: unknown, seq: number, savedAt: EpochMs): Buffer => {
  const text = JSON.stringify(body);
  const head = { format: currentFormat, seq, savedAt: new Date(savedAt).toISOString(), sha256: sha256(text) };
  return Buffer.from(`${JSON.stringify(head).slice(0, -1)},"body":${text}}\n`);
};

/** The used part of an envelope of a newer version; its checksum is not known here. */
const newerEnvelope = z.object({
  format: z.int().gt(currentFormat),
  seq: z.int().positive().catch(1),
  body: z.unknown().optional(),
});

interface Unsealed {
  format: number;
  seq: number;
  body?: unknown;
}

/** @throws if the envelope is incomplete or the checksum of the body is wrong */
export function unseal(bytes: Buffer): Unsealed {
  const json: unknown = JSON.parse(bytes.toString('utf8'));
  const newer = newerEnvelope.safeParse(json);
  if (newer.success) return newer.data;
  const { format, seq, body, sha256: expected } = envelope.parse(json);
  if (sha256(JSON.stringify(body)) !== expected) throw new Error('the checksum does not match');
  return { format, seq, body };
}
