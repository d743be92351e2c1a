/** What people may do to media: editors to what is new or theirs, publishers to what nothing uses, admins to all. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { requireRole, type Signer } from '../auth/person-keys.ts';
import { CodedError } from '../contract/errors.ts';
import { includesRole } from '../contract/roles.ts';
import { canonical } from '../domain/canonical.ts';
import { laterThan } from '../domain/merge.ts';
import { longestAbsenceMs } from '../domain/time.ts';
import type { ServiceContext } from '../module.ts';
import type { Shared } from '../shared/index.ts';

/** Who uploaded a medium last. */
const uploadRecord = z.looseObject({ id: z.string(), by: z.string(), updated_at: z.string() });
type UploadRecord = z.infer<typeof uploadRecord>;

const MAX_UPLOADS = 20_000;
/** For records without an owner. A box that was away for longer restores the owner. */
const KEEP_ENDED_MS = 31 * 86_400_000;

const rank = (record: UploadRecord): string => `${record.updated_at} ${canonical(record)}`;
/** Names of files are longer than ids of records may be. */
const idOf = (name: string): string => createHash('sha256').update(name).digest('hex');

interface Dependencies {
  shared: Pick<Shared, 'open'>;
  /** Whether there is a file of that name, here or on another box. */
  exists(name: string): Promise<boolean>;
  /** Whether the content names it. */
  isUsed(name: string): boolean;
}

export type MediaPermission = Awaited<ReturnType<typeof openMediaPermission>>;

/** A signer is null for the secret, which may do everything. */
export const openMediaPermission = async (
  { now, log }: Pick<ServiceContext, 'now' | 'log'>,
  { shared, exists, isUsed }: Dependencies,
) => {
  const uploads = await shared.open<UploadRecord>({
    name: 'uploads',
    schema: uploadRecord,
    merge: (a, b) => (rank(a) >= rank(b) ? a : b),
    most: MAX_UPLOADS,
    protection: 'secret',
    isOver: ({ by, updated_at }, at) => Date.parse(updated_at) + (by === '' ? KEEP_ENDED_MS : longestAbsenceMs) < at,
  });

  /** What plays concerns all screens that it plays on. */
  const checkTags = ({ tags }: Signer, name: string): void => {
    if (tags.length === 0 || !isUsed(name)) return;
    throw new CodedError('out_of_scope', 'This medium is used, and you act on screens with your tags alone.');
  };

  /** @param owners by name; empty: nobody, who replaces the owner that an earlier file of this name had */
  const note = async (owners: Record<string, string>): Promise<void> => {
    const records = Object.entries(owners).flatMap(([name, by]): UploadRecord[] => {
      const before = uploads.get(idOf(name));
      if (by === '' && (before?.by ?? '') === '') return [];
      return [{ id: idOf(name), by, updated_at: laterThan(before?.updated_at, now()) }];
    });
    await uploads
      .put(...records)
      .catch((error: unknown) => log.warn({ err: error, owners }, 'who uploaded a medium was not kept'));
  };

  return {
    /**
     * @param moment whether the body is still to come, or has arrived
     * @throws CodedError `role_required` or `out_of_scope` where the name is taken, or content names it before: what is sent
     *   would play
     */
    checkUpload: async (signer: Signer | null, name: string, moment: 'before' | 'after'): Promise<void> => {
      // A publisher may have published a draft that names it while it arrived.
      if (signer === null || ((moment === 'after' || !isUsed(name)) && !(await exists(name)))) return;
      requireRole(signer.role, 'publisher');
      checkTags(signer, name);
    },
    /** @throws CodedError `role_required` */
    checkDelete: (signer: Signer | null, name: string): void => {
      if (signer === null) return;
      if (isUsed(name)) requireRole(signer.role, 'admin');
      else if (!includesRole(signer.role, 'publisher') && uploads.get(idOf(name))?.by !== signer.id) {
        requireRole(signer.role, 'publisher');
      }
    },
    /**
     * What is used is renamed in what plays, as by publishing; by a new name that is used the file plays at once.
     * @throws CodedError `role_required`, `out_of_scope`
     */
    checkRename: (signer: Signer | null, name: string, to: string): void => {
      if (signer === null) return;
      const isFree = !isUsed(name) && !isUsed(to);
      if (!isFree || uploads.get(idOf(name))?.by !== signer.id) requireRole(signer.role, 'publisher');
      checkTags(signer, name);
      checkTags(signer, to);
    },
    /** Notes who has uploaded a medium: an editor may delete it as long as nothing uses it. Never rejects. */
    noteUpload: (signer: Signer | null, name: string): Promise<void> => note({ [name]: signer?.id ?? '' }),
    /** The file goes on to be that of who uploaded it. Never rejects. */
    noteRename: (name: string, to: string): Promise<void> =>
      note({ [name]: '', [to]: uploads.get(idOf(name))?.by ?? '' }),
    /** Never rejects. */
    noteDelete: (name: string): Promise<void> => note({ [name]: '' }),
  };
};
