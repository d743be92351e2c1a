/** The content and its versions over HTTP. */
import type { Content } from '../content/index.ts';
import type { ContentCheck, ContentVersions, PublishedContent } from '../contract/console/content.ts';
import type { DesignList } from '../contract/console/designs.ts';
import { designs } from '../contract/designs.ts';
import { CodedError } from '../contract/errors.ts';
import { asFile } from '../domain/document.ts';
import { redacted } from '../domain/redacted.ts';
import { areMet, matchesWeakly } from '../http/conditions.ts';
import { mayReadAll, operatorOf, personOf } from '../http/operator.ts';
import type { Routes } from '../http/routes.ts';
import { createTransferSlots, endIfUnread, streamedAnswers } from '../http/transfers.ts';
import type { ServiceContext } from '../module.ts';
import { type DocumentDependencies, etagOf, nothing, withDocuments } from './documents.ts';
import type { RequireKnown } from './require-known.ts';
import type { VersionStore } from './version-store.ts';

export interface ContentDependencies extends DocumentDependencies {
  content: Pick<Content, 'playing' | 'publish' | 'judge' | 'validate'>;
  requireKnown: RequireKnown;
}

type Tempo = Pick<ServiceContext, 'tempo'>;

export const contentRoutes = ({ tempo }: Tempo, dependencies: ContentDependencies): Routes => {
  const { content, requireKnown } = dependencies;
  const { withDocument, warningsOf } = withDocuments({ tempo }, dependencies);
  // Viewers may check, and must not take the room of those who publish.
  const checks = withDocuments({ tempo }, dependencies);

  return {
    'GET /console/api/content': (ctx) => {
      const { sha256, changedAt, text } = content.playing() ?? nothing;
      const isOpen = mayReadAll(ctx);
      const etag = etagOf(isOpen ? sha256 : `${sha256}-redacted`);
      ctx.set({ ETag: etag, 'Cache-Control': 'no-cache' });
      if (matchesWeakly(ctx.get('If-None-Match'), etag)) {
        ctx.status = 304;
        return;
      }
      ctx.type = 'application/json';
      const whole = text.replace(/^\uFEFF/, '');
      const document = isOpen ? whole : JSON.stringify(redacted(JSON.parse(whole)));
      ctx.body = `{"sha256":"${sha256}","changedAt":"${changedAt}","content":${document}}`;
    },

    'GET /console/api/designs': (ctx) => {
      ctx.body = { designs: [...designs] } satisfies DesignList;
    },

    'PUT /console/api/content': async (ctx) => {
      const match = ctx.get('If-Match');
      await withDocument(ctx, async ({ text, value }) => {
        if (match === '') throw new CodedError('precondition_required', undefined, { field: 'If-Match' });
        requireKnown();
        const reading = content.validate(value);
        if (!reading.ok) throw new CodedError('invalid_content', undefined, { errors: reading.issues });
        const { sha256, changedAt } = await content.publish({
          text: asFile(text, value),
          content: reading.content,
          isExpected: (playing) => areMet({ match, noneMatch: '' }, etagOf(playing ?? nothing.sha256)),
          operator: operatorOf(ctx),
          person: personOf(ctx),
        });
        ctx.set('ETag', etagOf(sha256));
        ctx.body = { sha256, changedAt, warnings: await warningsOf(reading.content) } satisfies PublishedContent;
      });
    },

    'POST /console/api/content/check': async (ctx) => {
      await checks.withDocument(ctx, async ({ value }) => {
        const reading = content.validate(value);
        ctx.body = (
          reading.ok
            ? { ok: true, errors: [], warnings: await warningsOf(reading.content) }
            : { ok: false, errors: reading.issues, warnings: [] }
        ) satisfies ContentCheck;
      });
    },
  };
};

export const versionRoutes = (
  versions: Pick<VersionStore, 'list' | 'read'>,
  content: Pick<Content, 'replaced'>,
  { tempo }: Tempo,
): Routes => {
  const slots = createTransferSlots(streamedAnswers);
  return {
    'GET /console/api/content/versions': async (ctx) => {
      const list = await versions.list();
      const replacedBy = new Map(content.replaced().map(({ sha256, replaced_by }) => [sha256, replaced_by]));
      ctx.body = {
        versions: list.map(({ sha256, changedAt, nodeId, operator, person, approved_by, bytes }) => ({
          sha256,
          changedAt,
          nodeId,
          operator,
          person,
          approved_by,
          bytes,
          replaced_by: replacedBy.get(sha256) ?? null,
        })),
      } satisfies ContentVersions;
    },

    'GET /console/api/content/versions/:sha256': async (ctx) => {
      const release = await slots.wait(ctx.state.clientIp);
      ctx.res.once('close', release);
      if (ctx.res.destroyed) return release();
      const version = await versions.read(ctx.params.sha256);
      if (version === null) throw new CodedError('version_not_found');
      const { sha256, bytes, stream } = version;
      ctx.set('Cache-Control', 'no-cache');
      ctx.type = 'application/json';
      if (!mayReadAll(ctx)) {
        const chunks: Buffer[] = [];
        for await (const chunk of stream()) chunks.push(chunk as Buffer);
        ctx.body = JSON.stringify(redacted(JSON.parse(Buffer.concat(chunks).toString())));
        return;
      }
      ctx.state.streamedSha256 = sha256;
      ctx.body = stream();
      ctx.length = bytes;
      endIfUnread(ctx.res, tempo.http.still);
    },
  };
};
