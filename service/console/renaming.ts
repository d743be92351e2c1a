/** `POST /console/api/media/{filename}/rename`: what names the file follows it. */
import { requireRole } from '../auth/person-keys.ts';
import type { Content } from '../content/index.ts';
import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import { renameRequest, type UploadResult } from '../contract/media.ts';
import { asFile } from '../domain/document.ts';
import { mediaName } from '../domain/media-names.ts';
import { withRenamedMedium } from '../domain/renamed-media.ts';
import type { Drafts } from '../drafts/index.ts';
import { readJson } from '../http/body.ts';
import { operatorOf, personOf } from '../http/operator.ts';
import type { Context, Routes } from '../http/routes.ts';
import { type Media, mediaNameOf } from '../media/index.ts';
import type { Peers } from '../peers/index.ts';
import type { Takeovers } from '../takeovers/index.ts';
import { nothing } from './documents.ts';
import type { RequireKnown } from './require-known.ts';

interface Dependencies {
  media: Pick<Media, 'rename' | 'deletions'>;
  content: Pick<Content, 'playing' | 'publish' | 'validate'>;
  drafts: Pick<Drafts, 'list' | 'get' | 'save'>;
  takeovers: Pick<Takeovers, 'open' | 'rewrite'>;
  peers: Pick<Peers, 'sendDeletion' | 'sendTakeover'>;
  requireKnown: RequireKnown;
}

/** What somebody else changes at the same moment is read again. */
const MAX_TRIES = 5;

/** @throws what `attempt` throws at last */
const untilUnchanged = async (code: string, attempt: () => Promise<unknown>): Promise<void> => {
  for (let tries = 1; ; tries++) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (!(error instanceof CodedError && error.code === code) || tries === MAX_TRIES) throw error;
    }
  }
};

const newNameOf = (to: string): string => {
  try {
    return mediaName(to);
  } catch (error) {
    throw error instanceof CodedError ? new CodedError('invalid_field', error.message, { field: 'to' }) : error;
  }
};

export const renamingRoutes = ({ media, content, drafts, takeovers, peers, requireKnown }: Dependencies): Routes => {
  const followContent = (ctx: Context, from: string, to: string): Promise<void> =>
    untilUnchanged('content_changed', async () => {
      const playing = content.playing() ?? nothing;
      const before: unknown = JSON.parse(playing.text.replace(/^\uFEFF/, ''));
      const value = withRenamedMedium(before, from, to);
      if (value === before) return;
      const { signer } = ctx.state;
      if (signer !== null) requireRole(signer.role, 'publisher');
      const reading = content.validate(value);
      if (!reading.ok) throw new CodedError('invalid_content', undefined, { errors: reading.issues });
      await content.publish({
        text: asFile(JSON.stringify(value), value),
        content: reading.content,
        isExpected: (current) => (current ?? nothing.sha256) === playing.sha256,
        operator: operatorOf(ctx),
        person: personOf(ctx),
      });
    });

  const followTakeovers = async (from: string, to: string): Promise<void> => {
    for (const takeover of takeovers.open()) {
      if (withRenamedMedium(takeover, from, to) === takeover) continue;
      const record = await takeovers.rewrite(takeover.id, (current) => withRenamedMedium(current, from, to));
      if (record !== undefined) await peers.sendTakeover(record);
    }
  };

  /** A draft stays its author's, and submitted if it was. */
  const followDraft = async (id: string, from: string, to: string): Promise<void> => {
    const draft = await drafts.get(id);
    if (draft?.content == null) return;
    const renamed = withRenamedMedium(draft.content, from, to);
    if (renamed === draft.content) return;
    await drafts.save(id, { ...draft, content: renamed }, draft.updated_by, (etag) => {
      if (etag !== draft.etag) throw new CodedError('draft_changed');
    });
  };

  return {
    'POST /console/api/media/:filename/rename': async (ctx) => {
      const from = mediaNameOf(ctx);
      const to = newNameOf(readFields(renameRequest, await readJson(ctx)).to);
      if (to === from)
        throw new CodedError('invalid_field', 'The new name is the one that the file has.', { field: 'to' });
      // What this version does not know may name the file, too.
      requireKnown();
      const renamed: UploadResult = await media.rename(ctx.state.signer, from, to);
      // Boxes know the new name before anything names it, and the old one stands for the file.
      const deletion = media.deletions.get(from);
      if (deletion !== undefined) await peers.sendDeletion(deletion);
      await followContent(ctx, from, to);
      await followTakeovers(from, to);
      for (const { id } of drafts.list()) await untilUnchanged('draft_changed', () => followDraft(id, from, to));
      ctx.state.log.info({ name: from, to }, 'a medium was renamed');
      ctx.body = renamed;
    },
  };
};
