import { join } from 'node:path';
import type { Routes } from '../http/routes.ts';
import { sendFile } from '../http/send-file.ts';

/**
 * Serves the newest downloaded release to the other boxes of the site, in the layout of an update feed. It needs no
 * credentials, as the receiving box verifies the signature.
 */
export const updateRoutes = ({ dataDir }: { dataDir: string }): Routes => ({
  'GET /updates/:filename': async (ctx) => {
    ctx.set('Cache-Control', 'no-cache');
    await sendFile(ctx, ctx.path.slice('/updates'.length), {
      root: join(dataDir, 'updates', 'ready'),
      cacheControl: false,
      index: false,
    });
  },
});
