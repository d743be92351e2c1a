/** The content and its versions over HTTP. */
import { type Content, validateContent } from '../content/index.ts';
import {
  type ContentCheck,
  type ContentVersions,
  mostContentBytes,
  type PublishedContent,
} from '../contract/console/content.ts';
import type { ContentFile } from '../contract/content.ts';
import type { ContentIssue } from '../contract/content-terms.ts';
import { CodedError } from '../contract/errors.ts';
import { asFile, editedDocument } from '../domain/document.ts';
import { type JsonText, readJsonText } from '../http/body.ts';
import { areMet, matchesWeakly } from '../http/conditions.ts';
import { operatorOf } from '../http/operator.ts';
import type { Context, Routes } from '../http/routes.ts';
import type { Peers } from '../peers/index.ts';
import { isFull } from '../platform/store/disk.ts';
import type { VersionStore } from './version-store.ts';

export interface ContentDependencies {
  content: Pick<Content, 'playing' | 'publish' | 'judge'>;
  peers: Pick<Peers, 'missingMedia'>;
}

const limits = { bytes: mostContentBytes, ms: 60_000 };
/** Documents that are received and checked at the same time have at most this size together. */
const MAX_PENDING_BYTES = 3 * mostContentBytes;

/** Represents the content while there is none. */
const nothing = editedDocument(null, {
  counter: 0,
  nodeId: '',
  changedAt: new Date(0).toISOString(),
  stamps: [],
  text: '{"screens":[]}',
});

const etagOf = (sha256: string): string => `"${sha256}"`;

export const contentRoutes = ({ content, peers }: ContentDependencies): Routes => {
  let pendingBytes = 0;

  /** Receives a document and calls `work` with it. @throws CodedError `too_many_requests` while there are too many */
  const withDocument = async <T>(ctx: Context, work: (document: JsonText) => Promise<T>): Promise<T> => {
    // A body without a length may reach the limit.
    const bytes = Math.min(ctx.request.length ?? mostContentBytes, mostContentBytes);
    if (pendingBytes + bytes > MAX_PENDING_BYTES) {
      ctx.req.resume();
      const message = 'The box is busy with other documents; try again in a moment.';
      throw new CodedError('too_many_requests', message, { headers: { 'Retry-After': '2' } });
    }
    pendingBytes += bytes;
    try {
      return await work(await readJsonText(ctx, limits));
    } finally {
      pendingBytes -= bytes;
    }
  };

  const warningsOf = async (file: ContentFile): Promise<ContentIssue[]> => [
    ...(await content.judge(file)),
    ...(await peers.missingMedia(file)),
  ];

  return {
    'GET /console/api/content': (ctx) => {
      const { sha256, changedAt, text } = content.playing() ?? nothing;
      ctx.set({ ETag: etagOf(sha256), 'Cache-Control': 'no-cache' });
      if (matchesWeakly(ctx.get('If-None-Match'), etagOf(sha256))) {
        ctx.status = 304;
        return;
      }
      ctx.type = 'application/json';
      const document = text.replace(/^\uFEFF/, '');
      ctx.body = `{"sha256":"${sha256}","changedAt":"${changedAt}","content":${document}}`;
    },

    'PUT /console/api/content': async (ctx) => {
      const match = ctx.get('If-Match');
      if (match === '') throw new CodedError('precondition_required', undefined, { field: 'If-Match' });
      await withDocument(ctx, async ({ text, value }) => {
        const reading = validateContent(value);
        if (!reading.ok) throw new CodedError('invalid_content', undefined, { errors: reading.issues });
        const { sha256, changedAt } = await content
          .publish({
            text: asFile(text, value),
            content: reading.content,
            isExpected: (playing) => areMet({ match, noneMatch: '' }, etagOf(playing ?? nothing.sha256)),
            operator: operatorOf(ctx.req),
          })
          .catch((error: unknown) => {
            throw isFull(error) ? new CodedError('insufficient_storage', undefined, { cause: error }) : error;
          });
        ctx.set('ETag', etagOf(sha256));
        ctx.body = { sha256, changedAt, warnings: await warningsOf(reading.content) } satisfies PublishedContent;
      });
    },

    'POST /console/api/content/check': async (ctx) => {
      await withDocument(ctx, async ({ value }) => {
        const reading = validateContent(value);
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
): Routes => ({
  'GET /console/api/content/versions': async (ctx) => {
    const list = await versions.list();
    const replacedBy = new Map(content.replaced().map(({ sha256, replaced_by }) => [sha256, replaced_by]));
    ctx.set('Cache-Control', 'no-store');
    ctx.body = {
      versions: list.map(({ sha256, changedAt, nodeId, operator, bytes }) => ({
        sha256,
        changedAt,
        nodeId,
        operator,
        bytes,
        replaced_by: replacedBy.get(sha256) ?? null,
      })),
    } satisfies ContentVersions;
  },

  'GET /console/api/content/versions/:sha256': async (ctx) => {
    const text = await versions.read(ctx.params.sha256);
    if (text === null) throw new CodedError('version_not_found');
    ctx.set('Cache-Control', 'no-cache');
    ctx.type = 'application/json';
    ctx.body = text.replace(/^\uFEFF/, '');
  },
});
