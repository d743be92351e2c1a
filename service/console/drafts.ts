/** Drafts over HTTP: `/console/api/drafts`. */
import { requireRole } from '../auth/person-keys.ts';
import type { Content } from '../content/index.ts';
import { mostContentBytes, type PublishedContent } from '../contract/console/content.ts';
import {
  type Draft,
  type DraftHead,
  type DraftRecord,
  type DraftSummary,
  draftId,
  draftQuery,
  draftRequest,
} from '../contract/console/drafts.ts';
import type { ContentFile } from '../contract/content.ts';
import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import type { Author } from '../contract/terms.ts';
import { asFile } from '../domain/document.ts';
import { merge, spellConflict } from '../domain/merge-documents.ts';
import { redacted } from '../domain/redacted.ts';
import type { Drafts } from '../drafts/index.ts';
import { checkDepth, spellBytes } from '../http/body.ts';
import { areMet } from '../http/conditions.ts';
import { authorOf, mayReadAll, operatorOf } from '../http/operator.ts';
import type { Context, Routes } from '../http/routes.ts';
import type { Peers } from '../peers/index.ts';
import { type DocumentDependencies, etagOf, nothing, withDocuments } from './documents.ts';
import type { RequireKnown } from './require-known.ts';
import type { VersionStore } from './version-store.ts';

interface Dependencies extends DocumentDependencies {
  drafts: Pick<Drafts, 'list' | 'get' | 'save' | 'remove' | 'noteEditing' | 'editing'>;
  content: Pick<Content, 'playing' | 'publish' | 'judge' | 'validate'>;
  peers: Pick<Peers, 'missingMedia' | 'broadcast'>;
  versions: Pick<VersionStore, 'read'>;
  requireKnown: RequireKnown;
}

/** Beside the document of a draft. */
const MARGIN_BYTES = 16 * 1024;
/** A document that is published at the same moment is merged, too. */
const MAX_TRIES = 3;

const idOf = (given: string): string => {
  const { success, data } = draftId.safeParse(given);
  if (success) return data;
  throw new CodedError('invalid_field', 'id is not valid: 1 to 64 of a-z, 0-9 and -.', { field: 'id' });
};

/** An author whose name is not only given. */
const provenOf = (by: Author | null): Author | null => (by === null || by.id === null ? null : by);

/** Refuses a change of another version than the one that the client has read. */
const guardOf = (ctx: Pick<Context, 'get'>, isRequired: boolean) => {
  const [match, noneMatch] = [ctx.get('If-Match'), ctx.get('If-None-Match')];
  return (etag: string | null): void => {
    if (!areMet({ match, noneMatch }, etag && etagOf(etag))) throw new CodedError('draft_changed');
    if (isRequired && etag !== null && match === '') {
      throw new CodedError('precondition_required', undefined, { field: 'If-Match' });
    }
  };
};

type Editing = Readonly<Record<string, readonly string[]>>;

/** Without what only a newer version knows of a person. */
const known = (by: Author | null): Author | null => by && { id: by.id, name: by.name };

const summaryOf = (head: DraftHead, editing: Editing): DraftSummary => {
  const { id, title, base_sha256, updated_at, note, state } = head;
  const [author, updated_by, submitted_by] = [known(head.author), known(head.updated_by), known(head.submitted_by)];
  const names = [...(editing[id] ?? [])];
  return { id, title, base_sha256, author, updated_at, updated_by, submitted_by, note, state, editing: names };
};

const draftOf = (record: DraftRecord, editing: Editing): Draft => ({
  ...summaryOf(record, editing),
  content: record.content ?? {},
});

const sendDraft = (ctx: Context, record: DraftRecord, editing: Editing): void => {
  ctx.set('ETag', etagOf(record.etag));
  const draft = draftOf(record, editing);
  ctx.body = mayReadAll(ctx) ? draft : { ...draft, content: redacted(draft.content) };
};

export const draftRoutes = (tempo: Parameters<typeof withDocuments>[0], dependencies: Dependencies): Routes => {
  const { drafts, content, peers, versions, requireKnown } = dependencies;
  const { withDocument, warningsOf } = withDocuments(tempo, dependencies, mostContentBytes + MARGIN_BYTES);

  /** At all boxes. */
  const editing = async (): Promise<Editing> => {
    const { answers } = await peers.broadcast('drafts.list');
    const all = [drafts.editing(), ...answers.map((answer) => answer.editing)];
    const ids = new Set(all.flatMap(Object.keys));
    return Object.fromEntries([...ids].map((id) => [id, [...new Set(all.flatMap((each) => each[id] ?? []))]]));
  };

  /** The document of a version; null: before there was any. @throws CodedError `draft_conflict` if it is not kept here */
  const textOf = async (sha256: string | null): Promise<unknown> => {
    if (sha256 === null || sha256 === nothing.sha256) return JSON.parse(nothing.text);
    const version = await versions.read(sha256);
    if (version === null) {
      const message =
        'The content was changed since the draft was begun, and this box has not kept what it was begun from. Publish it on the box where it was made, or save it anew over what plays now.';
      throw new CodedError('draft_conflict', message, { fields: [] });
    }
    const chunks: Buffer[] = [];
    for await (const chunk of version.stream()) chunks.push(chunk as Buffer);
    return JSON.parse(Buffer.concat(chunks).toString());
  };

  /** The draft, merged with what was published since it was begun. @throws CodedError `draft_conflict`, `invalid_content` */
  const documentOf = async (draft: DraftRecord): Promise<{ value: unknown; file: ContentFile; from: string }> => {
    const playing = content.playing() ?? nothing;
    let value: unknown = draft.content;
    if (playing.sha256 !== draft.base_sha256) {
      const theirs: unknown = JSON.parse(playing.text.replace(/^\uFEFF/, ''));
      const merged = merge(await textOf(draft.base_sha256), draft.content, theirs);
      if (merged.conflicts.length > 0) {
        const fields = merged.conflicts.map((conflict) => spellConflict(conflict, [draft.content, theirs]));
        throw new CodedError('draft_conflict', undefined, { fields });
      }
      ({ value } = merged);
    }
    const reading = content.validate(value);
    if (!reading.ok) throw new CodedError('invalid_content', undefined, { errors: reading.issues });
    return { value, file: reading.content, from: playing.sha256 };
  };

  const publish = async (draft: DraftRecord, by: Author | null): Promise<PublishedContent> => {
    for (let tries = 1; ; tries++) {
      const { value, file, from } = await documentOf(draft);
      try {
        const { sha256, changedAt } = await content.publish({
          text: asFile(JSON.stringify(value), value),
          content: file,
          isExpected: (playing) => (playing ?? nothing.sha256) === from,
          operator: (draft.updated_by ?? by)?.name ?? null,
          person: provenOf(known(draft.updated_by) ?? by),
          approved_by: by,
        });
        return { sha256, changedAt, warnings: await warningsOf(file) };
      } catch (error) {
        const isLate = error instanceof CodedError && error.code === 'content_changed';
        if (!isLate || tries === MAX_TRIES) throw error;
      }
    }
  };

  const find = async (id: string): Promise<DraftRecord> => {
    const draft = await drafts.get(id);
    if (draft === null) throw new CodedError('draft_not_found');
    return draft;
  };

  return {
    'GET /console/api/drafts': async (ctx) => {
      const names = await editing();
      ctx.body = { drafts: drafts.list().map((head) => summaryOf(head, names)) };
    },

    'GET /console/api/drafts/:id': async (ctx) => {
      const draft = await find(idOf(ctx.params.id));
      const name = operatorOf(ctx);
      if (readFields(draftQuery, ctx.query).editing === '1' && name !== null) drafts.noteEditing(draft.id, name);
      sendDraft(ctx, draft, await editing());
    },

    'PUT /console/api/drafts/:id': async (ctx) => {
      const id = idOf(ctx.params.id);
      await withDocument(ctx, async ({ value }) => {
        checkDepth(value);
        const request = readFields(draftRequest, value);
        // It could not be published.
        if (Buffer.byteLength(JSON.stringify(request.content)) > mostContentBytes) {
          throw new CodedError('payload_too_large', `A document must not be over ${spellBytes(mostContentBytes)}.`);
        }
        const { draft, isNew } = await drafts.save(id, request, authorOf(ctx), guardOf(ctx, true));
        ctx.status = isNew ? 201 : 200;
        sendDraft(ctx, draft, drafts.editing());
      });
    },

    'DELETE /console/api/drafts/:id': async (ctx) => {
      const id = idOf(ctx.params.id);
      const { signer } = ctx.state;
      // Its author may, and whoever may publish.
      if (signer !== null && (await find(id)).author?.id !== signer.id) requireRole(signer.role, 'publisher');
      await drafts.remove(id, authorOf(ctx), guardOf(ctx, false));
      ctx.status = 204;
    },

    'POST /console/api/drafts/:id/publish': async (ctx) => {
      const draft = await find(idOf(ctx.params.id));
      guardOf(ctx, true)(draft.etag);
      requireKnown();
      const by = authorOf(ctx);
      const published = await publish(draft, by);
      // What somebody typed meanwhile stays a draft.
      await drafts
        .remove(draft.id, by, (etag) => {
          if (etag !== draft.etag) throw new CodedError('draft_changed');
        })
        .catch((error: unknown) => ctx.state.log.warn({ err: error, id: draft.id }, 'a published draft stays'));
      ctx.set('ETag', etagOf(published.sha256));
      ctx.body = published;
    },
  };
};
