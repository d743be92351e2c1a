/** A backup: one tar, whose first member says what else is in it. */
import { z } from 'zod';
import { contentVersion, deviceBinding, takeoverRecord } from '../peers.ts';
import { disablingRecord, keyRecord, personRecord } from '../people-records.ts';
import { author, instant, sha256 } from '../terms.ts';
import { confirmHeader } from './backup-names.ts';
import { draftRecord, mostDraftRecords } from './drafts.ts';
import { mostPeopleEver } from './people.ts';
import { triggerLimits, triggerRecord } from './triggers.ts';

/** Raised when a box of the version before could not read it. */
export const backupFormat = 1;

export const manifestName = 'manifest.json';

export const confirmHeaders = z.object({
  [confirmHeader]: z.literal('restore', 'restore').describe('`restore`: the operator means it'),
});

const path = z
  .string()
  .regex(/^(content\.json|config\.json|records\/[a-z-]{1,64}\.json|versions\/[\da-f]{64}\.json|media\/[\da-f]{64})$/);

/** A longer list would fill the memory of a box. */
const mostMembers = 100_000;

/** The first member of the tar. Names of media stand only here: some are longer than a name in a tar may be. */
export const manifest = z.object({
  format: z.int().min(1),
  version: z.string().max(64).describe('of the program that wrote it'),
  site: z.string().max(64),
  node_id: z.string().max(64),
  name: z.string().max(255).describe('of the box'),
  created_at: instant,
  members: z
    .array(z.object({ path, type: z.string().max(255), size: z.int().nonnegative(), sha256, modified_at: instant }))
    .max(mostMembers),
  media: z.array(z.object({ name: z.string(), sha256, modified_at: instant })).max(mostMembers),
  without_password: z
    .array(z.string())
    .max(1_000)
    .optional()
    .describe('settings of config.json whose passwords are not in it'),
  without_media: z
    .array(z.string())
    .max(mostMembers)
    .optional()
    .describe('media that could not be read, and those that the content names and the box did not have'),
});
export type Manifest = z.infer<typeof manifest>;

/** A version of the content, as a member. */
export const storedVersion = contentVersion.extend({
  changedAt: instant,
  operator: z.string().max(64).nullable().default(null),
  person: author.nullable().default(null),
  approved_by: author.nullable().default(null),
  text: z.string(),
});

/** The members under `records/`, by name. */
export const backupRecords = z.object({
  devices: z.array(deviceBinding).max(20_000).default([]),
  takeovers: z.array(takeoverRecord).max(1_000).default([]),
  drafts: z.array(draftRecord).max(mostDraftRecords).default([]),
  triggers: z.array(triggerRecord).max(triggerLimits.records).default([]),
  people: z
    .object({
      people: z.array(personRecord).max(mostPeopleEver).readonly(),
      keys: z.array(keyRecord).max(200_000).readonly(),
      disablings: z.array(disablingRecord).max(100_000).readonly(),
    })
    .default({ people: [], keys: [], disablings: [] }),
});
export type BackupRecords = z.infer<typeof backupRecords>;

/** Limits of the members that are held in memory, bytes: each of the drafts is a whole document. */
export const mostManifestBytes = 64 * 1024 ** 2;
export const mostRecordBytes = 256 * 1024 ** 2;

export const restored = z
  .object({
    content: z
      .object({ sha256, changedAt: instant })
      .nullable()
      .describe('the version that the content has become; null: the backup has none'),
    media: z.int().describe('files that became uploads of now'),
    versions: z.int().describe('versions of the content that can be reverted to'),
    bindings: z.int().describe('devices that were bound or named'),
    takeovers: z.int().describe('takeovers, all of which are over'),
    settings: z.array(z.string()).describe('settings of config.json that were restored'),
    left_out: z.array(z.string()).describe('what was not restored, and why, as sentences'),
    restart_required: z.boolean().describe('true: the settings count from the next start of the player'),
  })
  .meta({ id: 'Restored' });
export type Restored = z.infer<typeof restored>;
