import { open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { CodedError } from '../../contract/errors.ts';
import { readFields } from '../../contract/fields.ts';
import { copyParams, copyQuery } from '../../contract/media.ts';
import { peerCopyRequest } from '../../contract/peer-media.ts';
import { readJson } from '../../http/body.ts';
import type { Routes } from '../../http/routes.ts';
import { isMissing } from '../../platform/store/disk.ts';
import { serve } from '../serve.ts';
import type { Copies } from './copies.ts';

/** How long a request waits for a fetch in progress. */
const MAX_WAIT_MS = 4_000;

/**
 * Serves the copy of an address, or redirects to the address. It accepts only addresses that the content names, so it is
 * neither an open proxy nor an open redirect.
 */
export const copyRoutes = (copies: Pick<Copies, 'find' | 'findByHash' | 'offer' | 'lose'>): Routes => ({
  'GET /copies': async (ctx) => {
    const { url, sha256 } = readFields(copyQuery, ctx.query);
    let found = copies.find(url, sha256);
    if (found !== null && 'coming' in found) {
      await Promise.race([found.coming, delay(MAX_WAIT_MS, undefined, { ref: false })]);
      found = copies.find(url);
    }
    if (found !== null && 'copy' in found) {
      const { copy, file } = found;
      const handle = await open(file).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
      if (handle !== undefined) {
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
  'POST /api/peers/copy': async (ctx) => {
    ctx.body = copies.offer(readFields(peerCopyRequest, await readJson(ctx)).url);
  },
});
