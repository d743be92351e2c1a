/** What people install of the authority of the site, and what operators see and do. */
import type { X509Certificate } from 'node:crypto';
import type { SiteRoot } from '../contract/authority.ts';
import { CodedError } from '../contract/errors.ts';
import type { Context, Routes } from '../http/routes.ts';
import { profileOf } from './profile.ts';
import type { Authority } from './records.ts';

interface Dependencies {
  /** The root that people are to install; null: none. */
  shown(): Authority | null;
  /** Replaces the root. */
  renew(): Promise<Authority>;
  /** How many roots were replaced. */
  replaced(): number;
  site: string;
}

const isoOf = (date: string): string => new Date(date).toISOString();

const send = (ctx: Context, type: string, body: string | Buffer, name: string): void => {
  ctx.set({ 'Cache-Control': 'no-store', 'Content-Disposition': `inline; filename="${name}"` });
  ctx.type = type;
  ctx.body = body;
};

export const authorityRoutes = ({ shown, renew, replaced, site }: Dependencies): Routes => {
  const rootOf = (): X509Certificate => {
    const found = shown();
    if (found === null) throw new CodedError('trust_unavailable');
    return found.root;
  };
  const answer = (ctx: Context, { root, rootPem }: Authority): void => {
    const { fingerprint256: fingerprint, validFrom, validTo } = root;
    const body: SiteRoot = {
      fingerprint,
      not_before: isoOf(validFrom),
      not_after: isoOf(validTo),
      root: rootPem,
      replaced: replaced(),
    };
    ctx.body = body;
  };

  return {
    'GET /trust/root.crt': (ctx) => send(ctx, 'application/x-x509-ca-cert', rootOf().raw, 'signage-root.crt'),
    'GET /trust/root.mobileconfig': (ctx) =>
      send(ctx, 'application/x-apple-aspen-config', profileOf(rootOf(), site), 'signage-root.mobileconfig'),
    'GET /console/api/ca': (ctx) => {
      const found = shown();
      if (found === null) throw new CodedError('trust_unavailable');
      answer(ctx, found);
    },
    'POST /console/api/ca/renew': async (ctx) => answer(ctx, await renew()),
  };
};
