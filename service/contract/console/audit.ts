/** The audit: who changed what. */
import { z } from 'zod';
import { instant, operator } from '../terms.ts';

/** Kinds of things that are changed. */
export type AuditSubject = 'box' | 'content' | 'device' | 'medium' | 'screen' | 'takeover';

export const auditRecord = z
  .object({
    at: instant,
    node_id: z.string().describe('id of the box that received the request'),
    operator,
    address: z.string().nullable().describe('address of the client; null: the box itself, or many clients'),
    action: z.string().describe('what was done, such as `content.publish`'),
    target: z.string().nullable().describe('what it was done to: a slug, a device id, a file name, ...'),
    before: z.unknown().describe('the target before the change; null: it did not exist, or has no state'),
    after: z
      .unknown()
      .describe('the target after the change, or the request if it has no state; null: it does not exist'),
    result: z.string().describe('`ok`, or the code of the error'),
  })
  .meta({ id: 'AuditRecord' });
export type AuditRecord = z.infer<typeof auditRecord>;

/** Maximum number of records in an answer. */
export const maxAuditRecords = 1_000;

export const auditAnswer = z
  .object({
    records: z.array(auditRecord).max(maxAuditRecords).describe('newest first, the last 1,000 of the site'),
    degraded: z.boolean().describe('true if a known box did not respond'),
  })
  .meta({ id: 'Audit' });

export const peerAudit = z
  .object({ records: z.array(auditRecord).max(maxAuditRecords).describe('newest first') })
  .meta({ id: 'PeerAudit', description: 'the records of one box' });
