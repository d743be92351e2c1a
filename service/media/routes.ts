import { CodedError } from '../contract/errors.ts';
import type { MediaConfig, UploadResult } from '../contract/media.ts';
import { mediaName } from '../domain/media-names.ts';
import type { Conditions } from '../http/conditions.ts';
import type { Context, Routes } from '../http/routes.ts';
import { fingerprint } from './fingerprint.ts';
import type { Library } from './library.ts';
import { serve } from './serve.ts';

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
 * The body is stored as sent, so it must be the whole file (RFC 9110, 14.5) without a content coding.
 * @throws `invalid_field`, `unsupported_media_type`
 */
const checkWhole = (ctx: Context): void => {
  if (ctx.headers['content-range'] !== undefined) {
    const message = 'A part of a file cannot be uploaded; send the whole file, without Content-Range.';
    throw new CodedError('invalid_field', message, { field: 'Content-Range' });
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
};

const conditionsOf = (ctx: Context): Conditions => ({
  match: ctx.get('If-Match'),
  noneMatch: ctx.get('If-None-Match'),
});

/** Routes for uploads and for serving media files. */
export const mediaRoutes = (library: Library): Routes => ({
  'GET /api/media/config': (ctx) => {
    ctx.body = library.folders satisfies MediaConfig;
  },

  'PUT /api/media/:filename': async (ctx) => {
    try {
      checkWhole(ctx);
      const { result, isNew, etag } = await library.write(mediaNameOf(ctx), ctx.req, {
        expectedLength: ctx.request.length ?? null,
        bodySha256: ctx.state.bodySha256,
        conditions: conditionsOf(ctx),
      });
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
    await library.remove(mediaNameOf(ctx), conditionsOf(ctx));
    ctx.status = 204;
  },

  'GET /media/:filename': async (ctx) => {
    const name = mediaNameOf(ctx);
    const { type, sha256, ...file } = await library.open(name);
    await serve(ctx, { name, type, etag: fingerprint(file.stats), sha256 }, file);
  },
});
