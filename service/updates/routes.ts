import { join } from 'node:path';
import type { Routes } from '../http/routes.ts';
import { sendFile } from '../http/send-file.ts';

/**
 * What this box has of the newest version, for the other boxes of the site: a release folder as a feed has it. Whoever
 * takes it checks its signature, so it may be had by anyone.
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
