/** Drafts: documents that people are editing, kept on the boxes of the site until they are published. */
import { z } from 'zod';
import { orUnread, passedOn } from '../passed-on.ts';
import { author, instant, operator, sha256 } from '../terms.ts';
import { contentDraft, mostContentBytes } from './content.ts';

/** Drafts of a site; their removals are kept beside them. */
export const mostDrafts = 20;

export const draftId = z
  .string()
  .regex(/^[a-z0-9-]{1,64}$/, '1 to 64 of a-z, 0-9 and -')
  .describe('id of a draft, chosen by the client that makes it');

const title = z.string().max(200).describe('for people');
const base = sha256.nullable().describe('the version of the content that was edited; null: there was none');
const state = z.enum(['open', 'submitted']).describe('submitted: it waits for somebody who publishes it');
const note = z.string().max(2_000).describe('for whoever goes on with it');

/** The body of `PUT /console/api/drafts/{id}`. */
export const draftRequest = z
  .object({
    title,
    base_sha256: base,
    content: contentDraft.or(z.looseObject({})).describe('a whole document, which need not be valid'),
    state: state.nullish().describe('absent: as before; a new draft is open'),
    note: note.nullish().describe('for whoever goes on with it; absent: as before'),
  })
  .meta({ id: 'DraftRequest' });

const fields = {
  id: draftId,
  title,
  base_sha256: base,
  author: author.nullable().describe('who made it; null: unknown'),
  updated_at: instant,
  updated_by: author.nullable().describe('who saved it last; null: unknown'),
  submitted_by: author.nullable().describe('null: it is not submitted'),
  note: note.nullable().describe('for whoever goes on with it; null: none'),
  state,
};

const editing = z.array(operator.unwrap()).describe('names of those who had it open in the last 30 s');

export const draftSummary = z.object({ ...fields, editing }).meta({ id: 'DraftSummary' });
export type DraftSummary = z.infer<typeof draftSummary>;

export const draft = z
  .object({ ...fields, content: z.looseObject({}).describe('the document as it was saved'), editing })
  .meta({ id: 'Draft' });
export type Draft = z.infer<typeof draft>;

export const draftList = z.object({ drafts: z.array(draftSummary).describe('newest first') }).meta({ id: 'DraftList' });

export const draftQuery = z.object({
  editing: z.literal('1').optional().describe('`1`: the one who asks has it open; counts for 30 s'),
});

/** Versions by the box that made them: one descends from another whose counters are nowhere higher. */
const counters = z.record(z.string().max(64), z.int().nonnegative());

const passedAuthor = passedOn(author).nullable();

/** A draft as boxes exchange it; its removal is a record too. */
export const draftHead = passedOn(
  z.object({
    ...fields,
    author: passedAuthor.describe('who made it; null: unknown'),
    updated_by: passedAuthor.describe('who saved it last; null: unknown'),
    submitted_by: passedAuthor.describe('null: it is not submitted'),
    counters: counters.describe('saves by node id'),
    removed: z.boolean().describe('it was published or deleted'),
    etag: sha256.describe('of everything else, the content and unknown fields included, in the order of their names'),
  }),
  4_000,
).meta({ id: 'DraftHead' });
export type DraftHead = z.infer<typeof draftHead>;

export const draftRecord = passedOn(
  z.object({ ...draftHead.shape, content: z.looseObject({}).nullable().describe('null: it was removed') }),
  4_000,
).meta({ id: 'DraftRecord' });
export type DraftRecord = z.infer<typeof draftRecord>;

const { id, updated_at, removed, etag } = draftHead.shape;
const head = { id, updated_at, counters: draftHead.shape.counters, removed, etag };
/** A draft without its document, as boxes exchange it. */
const passedHead = orUnread(draftHead, head, 12_000);
/** A draft as boxes exchange and store it. */
export const passedDraft = orUnread(draftRecord, head, 2 * mostContentBytes);

/** Removed ones included. */
export const mostDraftRecords = 500;

export const peerDrafts = z
  .object({
    drafts: z.array(passedHead).max(mostDraftRecords).describe('those that rest, removed ones included'),
    editing: z.record(draftId, z.array(z.string().max(64)).max(50)).describe('who has which draft open at this box'),
  })
  .meta({ id: 'PeerDrafts' });
