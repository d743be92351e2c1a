/** The versions of the content over HTTP. */
import type { ContentVersions } from '../contract/console/content.ts';
import { CodedError } from '../contract/errors.ts';
import type { Routes } from '../http/routes.ts';
import type { VersionStore } from './version-store.ts';

export const versionRoutes = (versions: Pick<VersionStore, 'list' | 'read'>): Routes => ({
  'GET /console/api/content/versions': async (ctx) => {
    const list = await versions.list();
    ctx.set('Cache-Control', 'no-store');
    ctx.body = {
      versions: list.map(({ sha256, changedAt, nodeId, operator, bytes }) => ({
        sha256,
        changedAt,
        nodeId,
        operator,
        bytes,
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
