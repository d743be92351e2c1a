import { open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import {
  copyParams,
  copyQuery,
  loudnessHeader,
  type MediaConfig,
  mediumQuery,
  renditionHeader,
  renditionParams,
  type UploadResult,
} from '../contract/media.ts';
import { peerCopyRequest, peerRenditionsRequest } from '../contract/peers.ts';
import { mediaName } from '../domain/media-names.ts';
import { isSaved, OPAQUE } from '../domain/media-types.ts';
import { judgeAgain, readJson } from '../http/body.ts';
import type { Conditions } from '../http/conditions.ts';
import type { Context, Routes } from '../http/routes.ts';
import { isMissing } from '../platform/store/disk.ts';
import type { MediaContext } from './context.ts';
import type { Copies } from './copies/copies.ts';
import type { Library } from './library.ts';
import type { MediaPermission } from './permission.ts';
import type { OpenRendition, Renditions } from './renditions/index.ts';
import { serve } from './serve.ts';

/** Serves a rendition under its own entity tag, which is the same on all boxes, and closes it. */
const serveRendition = (ctx: Context, name: string, { profile, mediaType, sha256, ...file }: OpenRendition) => {
  ctx.set(renditionHeader, profile);
  return serve(ctx, { name, type: mediaType, etag: sha256, sha256 }, file);
};

/** The file as it is. */
const nothing = { made: null, loudness: null };

/** Whether the client continues an original that it has begun (RFC 9110, 13.1.5). */
const continues = (ctx: Context, etag: string): boolean =>
  ctx.get('Range') !== '' && ctx.get('If-Range') === `"${etag}"`;

/**
 * Serves the copy of an address, or redirects to the address. It accepts only addresses that the content names, so it is
 * neither an open proxy nor an open redirect.
 */
export const copyRoutes = (
  { tempo }: Pick<MediaContext, 'tempo'>,
  copies: Pick<Copies, 'find' | 'findByHash' | 'offer' | 'lose'>,
  renditions: Pick<Renditions, 'findOfCopy' | 'openByHash' | 'offer'>,
): Routes => ({
  'GET /copies': async (ctx) => {
    const { url, sha256 } = readFields(copyQuery, ctx.query);
    let found = copies.find(url, sha256);
    if (found !== null && 'coming' in found) {
      await Promise.race([found.coming, delay(tempo.media.arrival, undefined, { ref: false })]);
      found = copies.find(url);
    }
    if (found !== null && 'copy' in found) {
      const { copy, file } = found;
      const handle = await open(file).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
      if (handle !== undefined) {
        const isBegun = sha256 === copy.sha256 || continues(ctx, copy.sha256);
        const { made, loudness } = isBegun
          ? nothing
          : await renditions.findOfCopy(copy).catch(async (error: unknown) => {
              await handle.close();
              throw error;
            });
        if (loudness !== null) ctx.set(loudnessHeader, String(loudness));
        if (made !== null) {
          await handle.close();
          return serveRendition(ctx, made.sha256, made);
        }
        const representation = { name: copy.sha256, type: copy.mediaType, etag: copy.sha256, sha256: copy.sha256 };
        return serve(ctx, representation, { handle, stats: await handle.stat() });
      }
      await copies.lose(url, copy);
      found = copies.find(url);
    }
    if (found !== null && 'coming' in found) throw new CodedError('address_withheld');
    if (found === null || !('remote' in found)) {
      throw new CodedError('file_not_found', 'The content names no media file with this address.');
    }
    ctx.status = 302;
    ctx.set({ Location: found.remote, 'Cache-Control': 'no-store' });
    ctx.body = '';
  },
  'GET /copies/:sha256': async (ctx) => {
    const { sha256 } = readFields(copyParams, ctx.params);
    const found = copies.findByHash(sha256);
    const handle = found && (await open(found.file).catch(() => undefined));
    if (!handle) throw new CodedError('file_not_found', 'There is no copy with this hash.');
    const representation = { name: sha256, type: found.mediaType, etag: sha256, sha256 };
    return serve(ctx, representation, { handle, stats: await handle.stat() });
  },
  'GET /renditions/:sha256': async (ctx) => {
    const { sha256 } = readFields(renditionParams, ctx.params);
    const found = await renditions.openByHash(sha256);
    if (found === null) throw new CodedError('file_not_found', 'There is no rendition with this hash.');
    return serveRendition(ctx, sha256, found);
  },
  'POST /api/peers/renditions': async (ctx) => {
    const { originals } = readFields(peerRenditionsRequest, await readJson(ctx));
    ctx.body = { renditions: await renditions.offer(originals) };
  },
  'POST /api/peers/copy': async (ctx) => {
    ctx.body = copies.offer(readFields(peerCopyRequest, await readJson(ctx)).url);
  },
});

/** The file name in the path, decoded strictly: the router passes badly encoded names on as they are. */
export const mediaNameOf = ({ captures = [] }: Context): string => {
  try {
    return mediaName(decodeURIComponent(captures[0] ?? ''));
  } catch (error) {
    if (error instanceof CodedError) throw error;
    throw new CodedError('invalid_field', 'The file name has an invalid percent-encoding.', { field: 'filename' });
  }
};

/**
 * The body is stored as sent, so it must be the whole file (RFC 9110, 14.5), neither a form nor with a content coding.
 * @throws `invalid_field`, `unsupported_media_type`
 */
const checkWhole = (ctx: Context): void => {
  const [form] = /^(?:multipart\/form-data|application\/x-www-form-urlencoded)\b/i.exec(ctx.get('Content-Type')) ?? [];
  if (form !== undefined) {
    const message = `The body must be the file itself, and not ${form}: curl -T FILE sends it so.`;
    throw new CodedError('unsupported_media_type', message);
  }
  for (const [name, known] of [
    ['Content-Encoding', ['', 'identity']],
    ['Transfer-Encoding', ['', 'identity', 'chunked']],
  ] as const) {
    const codings: readonly string[] = ctx
      .get(name)
      .split(',')
      .map((coding) => coding.trim().toLowerCase());
    if (codings.every((coding) => (known as readonly string[]).includes(coding))) continue;
    throw new CodedError('unsupported_media_type', `Send the file itself, without the ${name} ${ctx.get(name)}.`);
  }
  if (ctx.headers['content-range'] !== undefined) {
    const message = 'A part of a file cannot be uploaded; send the whole file, without Content-Range.';
    throw new CodedError('invalid_field', message, { field: 'Content-Range' });
  }
};

const conditionsOf = (ctx: Context): Conditions => ({
  match: ctx.get('If-Match'),
  noneMatch: ctx.get('If-None-Match'),
});

/** Routes for uploads and for serving media files. */
export const mediaRoutes = (
  library: Library,
  renditions: Pick<Renditions, 'find'>,
  permission: Pick<MediaPermission, 'checkUpload' | 'checkDelete' | 'noteUpload' | 'noteDelete'>,
): Routes => ({
  'GET /api/media/config': (ctx) => {
    ctx.body = library.folders satisfies MediaConfig;
  },

  'PUT /api/media/:filename': async (ctx) => {
    try {
      const name = mediaNameOf(ctx);
      checkWhole(ctx);
      const { result, isNew, etag } = await library.write(name, ctx.req, {
        expectedLength: ctx.request.length ?? null,
        bodySha256: ctx.state.bodySha256,
        conditions: conditionsOf(ctx),
        checkPermission: (moment) => {
          if (moment === 'after') judgeAgain(ctx);
          return permission.checkUpload(ctx.state.signer, name, moment);
        },
      });
      await permission.noteUpload(ctx.state.signer, name);
      ctx.body = result satisfies UploadResult;
      ctx.set('ETag', `"${etag}"`);
      ctx.status = isNew ? 201 : 200;
    } catch (error) {
      // Closing the socket while the client sends would lose the response; the server cuts a client that keeps sending.
      ctx.req.resume();
      throw error;
    }
  },

  'DELETE /api/media/:filename': async (ctx) => {
    const name = mediaNameOf(ctx);
    permission.checkDelete(ctx.state.signer, name);
    await library.remove(name, conditionsOf(ctx));
    await permission.noteDelete(name);
    ctx.status = 204;
  },

  'GET /media/:filename': async (ctx) => {
    const name = mediaNameOf(ctx);
    const { original } = readFields(mediumQuery, { original: ctx.query['original'] });
    const medium = await library.open(name);
    const { type, sha256, etag, ...file } = medium;
    try {
      const isWhole = original !== undefined || continues(ctx, etag);
      const { made, loudness } = isWhole ? nothing : await renditions.find(name, medium);
      if (loudness !== null) ctx.set(loudnessHeader, String(loudness));
      if (made !== null) return await serveRendition(ctx, name, made);
      await serve(ctx, { name, type: isSaved(type) ? OPAQUE : type, etag, sha256 }, file);
    } finally {
      await file.handle.close().catch(() => undefined);
    }
  },
});
