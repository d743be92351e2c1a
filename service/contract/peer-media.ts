/** Media as the boxes of a site list them for each other. */
import { z } from 'zod';
import { instant, sha256 } from './terms.ts';

/** A file as a box serves it under `/media/NAME`. */
export const peerMedium = z
  .object({
    name: z.string().min(1).max(255).describe('name of the file'),
    size: z.int().nonnegative().describe('bytes'),
    sha256: sha256.describe('SHA-256 of the file, lower-case hex'),
    modifiedAt: instant.describe('of two files with the same name the newer one wins'),
  })
  .meta({ id: 'PeerMedium' });
export type PeerMedium = z.infer<typeof peerMedium>;

/** A medium that was deleted at the whole site. */
export const mediaDeletion = z
  .object({
    name: z.string().min(1).max(255).describe('name of the file'),
    deletedAt: instant.describe("by the site's clock; files with this name up to this time are deleted"),
    sha256: sha256.nullable().describe('of the file that was deleted; null: not known'),
  })
  .meta({ id: 'MediaDeletion' });
export type MediaDeletion = z.infer<typeof mediaDeletion>;

/** Maximum number of stored deletions. */
export const mostDeletions = 10_000;

export const peerMedia = z
  .object({
    media: z.array(peerMedium).max(10_000).describe('one per file'),
    deleted: z.array(mediaDeletion).max(mostDeletions).describe('deleted media, kept for 400 days'),
    digest: sha256.describe('of both lists, as in the state of the box'),
  })
  .meta({ id: 'PeerMedia', description: 'all media of a box, and deletions' });
export type PeerMedia = z.infer<typeof peerMedia>;

export const peerCopyRequest = z.object({
  url: z.string().min(1).max(8_192).describe('address of a remote medium'),
});

/** What a box has of a remote medium, for the other boxes of its site. */
export const peerCopy = z
  .object({
    state: z
      .enum(['here', 'coming', 'failed', 'unknown'])
      .describe('unknown: its content does not name the address, or it is waiting for another box'),
    copy: z
      .object({
        sha256,
        size: z.int().nonnegative().describe('bytes'),
        etag: z.string().nullable().describe('of the origin'),
        lastModified: z.string().nullable().describe('of the origin'),
        life: z.number().nonnegative().describe('freshness lifetime, ms'),
      })
      .nullable()
      .describe('only if the state is here'),
  })
  .meta({ id: 'PeerCopy' });
export type PeerCopy = z.infer<typeof peerCopy>;
