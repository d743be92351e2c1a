import { CodedError } from '../errors.ts';
import type { Context, Routes } from '../http/routes.ts';
import type { MediaConfig, UploadResult } from '../wire/media.ts';
import { fingerprint } from './fingerprint.ts';
import type { Library } from './library.ts';
import { mediaName } from './names.ts';
import { serve } from './serve.ts';

/** The name in the path, decoded strictly: the router takes what is not well encoded for a name as it stands. */
const nameOf = ({ captures = [] }: Context): string => {
  try {
    return mediaName(decodeURIComponent(captures[0] ?? ''));
  } catch (error) {
    if (error instanceof CodedError) throw error;
    throw new CodedError('invalid_field', 'The file name is not well encoded.', { field: 'filename' });
  }
};

/** Uploads, and every file's own address. */
export const mediaRoutes = (library: Library): Routes => ({
  'GET /api/media/config': (ctx) => {
    ctx.body = library.folders satisfies MediaConfig;
  },

  'PUT /api/media/:filename': async (ctx) => {
    try {
      ctx.body = (await library.write(nameOf(ctx), ctx.req, {
        expectedLength: ctx.request.length ?? null,
        bodySha256: ctx.state.bodySha256,
      })) satisfies UploadResult;
      ctx.status = 201;
    } catch (error) {
      // A socket that is closed while its client sends takes the answer along; the server cuts whoever goes on.
      ctx.req.resume();
      throw error;
    }
  },

  'DELETE /api/media/:filename': async (ctx) => {
    await library.remove(nameOf(ctx));
    ctx.status = 204;
  },

  'GET /media/:filename': async (ctx) => {
    const name = nameOf(ctx);
    const { type, sha256, ...file } = await library.open(name);
    await serve(ctx, { name, type, etag: fingerprint(file.stats), sha256 }, file);
  },
});
