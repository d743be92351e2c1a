/** Release files that boxes hand to each other. */
import { join } from 'node:path';
import { sendFile } from '../http/send-file.ts';
import type { Module, ServiceContext } from '../module.ts';

export const createUpdates = ({ dirs }: Pick<ServiceContext, 'dirs'>): Module => ({
  routes: {
    /**
     * Serves the newest downloaded release to the other boxes of the site, in the layout of an update feed. It needs no
     * credentials, as the receiving box verifies the signature.
     */
    'GET /updates/:filename': async (ctx) => {
      ctx.set('Cache-Control', 'no-cache');
      await sendFile(ctx, ctx.path.slice('/updates'.length), {
        root: join(dirs.data, 'updates', 'ready'),
        cacheControl: false,
        index: false,
      });
    },
  },
});
