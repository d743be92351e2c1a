/** The HTML pages and their assets. */
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Content } from '../content/index.ts';
import type { TrustData } from '../contract/authority.ts';
import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import {
  type ConsoleBoot,
  type LandingBoot,
  type MissingBoot,
  type PageBoot,
  type PlayerBoot,
  type PreviewBoot,
  previewQuery,
  type TrustBoot,
} from '../contract/page.ts';
import type { Variant } from '../contract/terms.ts';
import { readJson } from '../http/body.ts';
import { consoleHeaders, docsHeaders, previewHeaders } from '../http/headers.ts';
import type { Context, Routes } from '../http/routes.ts';
import { sendFile } from '../http/send-file.ts';

interface Dependencies {
  content: Pick<Content, 'payload' | 'screens'>;
  /** Issues a page token; null if pages need none. */
  pageToken(): Promise<PageBoot['pageToken']>;
  /** The boot data of the landing page about the address of the onboarding form. */
  formAddress(request: IncomingMessage): Pick<LandingBoot, 'formUrl' | 'localFormUrl'>;
  /** What the page about the root certificate shows; null: there is none. */
  trust(request: IncomingMessage): Promise<TrustData | null>;
  /** The base URL of this service over https, under the host of the request; null: it does not answer there. */
  secureBase(request: IncomingMessage): string | null;
  /** As {@link Dependencies.secureBase}, over http. */
  plainBase(request: IncomingMessage): string | null;
  /** The boot data of every page about the box. */
  box(): Pick<PageBoot, 'nodeId' | 'time' | 'isBaseline'>;
  /** Called when the onboarding form of a device is opened. */
  formOpened(deviceId: string): void;
}

interface PagesOptions {
  rendererDir: string;
  timeZone(): string;
  variant: Variant;
  version: string;
  /** Whether requests of the console must be signed. */
  hasSecret: boolean;
  /** Whether the console offers single sign-on. */
  hasSignOn: boolean;
}

/** Maximum number of screens linked from the "page not found" page. */
const MAX_LINKED = 6;

export type PageRoutes = Awaited<ReturnType<typeof createPageRoutes>>;

const bootSlot = /(<script type="application\/json" id="boot">)[^<]*(<\/script>)/;

/** Sends a page with its boot data embedded as JSON, since the policy forbids inline scripts. */
const fillPage = <Boot extends PageBoot>(
  ctx: Pick<Context, 'type' | 'set' | 'body'>,
  html: string,
  boot: Boot,
): void => {
  const json = JSON.stringify(boot).replaceAll('<', '\\u003c');
  ctx.type = 'text/html';
  ctx.set('Cache-Control', 'no-store');
  ctx.body = html.replace(bootSlot, (_, open: string, close: string) => open + json + close);
};

/** @throws Error if the renderer is not built */
export const createPageRoutes = async (
  { content, pageToken, formAddress, formOpened, trust, secureBase, plainBase, box }: Dependencies,
  { rendererDir, timeZone, variant, version, hasSecret, hasSignOn }: PagesOptions,
) => {
  const readPage = (path: string): Promise<string> => readFile(join(rendererDir, path), 'utf8');
  const [player, landing, form, missing, trustPage, consolePage, preview, docs] = await Promise.all([
    readPage('player/index.html'),
    readPage('onboarding/landing.html'),
    readPage('onboarding/form.html'),
    readPage('onboarding/missing.html'),
    readPage('onboarding/trust.html'),
    readPage('console/index.html'),
    readPage('console/preview/index.html'),
    readPage('docs/index.html'),
  ]);

  const sendPage = <Boot extends PageBoot>(
    ctx: Pick<Context, 'type' | 'set' | 'body'>,
    html: string,
    boot: Omit<Boot, 'nodeId' | 'time' | 'isBaseline'>,
  ): void => fillPage(ctx, html, { ...boot, ...box() });

  const sendScreenList = (ctx: Context): void => {
    ctx.type = 'text/plain';
    ctx.body = [
      'Signage player. Screens:',
      ...content.screens().map(({ slug, name }) => `  /screen/${slug}  ${name}`),
      '',
    ].join('\n');
  };

  const routes: Routes = {
    'GET /': async (ctx) => {
      if (variant === 'baseline') sendScreenList(ctx);
      else sendPage<LandingBoot>(ctx, landing, { ...formAddress(ctx.req), pageToken: await pageToken() });
    },
    'GET /onboard': async (ctx) => {
      const { deviceId } = ctx.query;
      if (ctx.method === 'GET' && typeof deviceId === 'string') formOpened(deviceId);
      sendPage<PageBoot>(ctx, form, { pageToken: await pageToken() });
    },
    'POST /api/auth/page': async (ctx) => {
      await readJson(ctx);
      ctx.set('Cache-Control', 'no-store');
      ctx.body = (await pageToken()) ?? { token: null, issuedAt: null, expiresAt: null };
    },
    'GET /screen/:slug': async (ctx) => {
      const slug = ctx.params.slug ?? '';
      // An unknown screen gets the player too, which waits until the screen exists.
      ctx.status = content.payload(slug) === undefined ? 404 : 200;
      sendPage<PlayerBoot>(ctx, player, {
        slug,
        version,
        timeZone: timeZone(),
        pageToken: await pageToken(),
      });
    },
    'GET /trust': async (ctx) => {
      const data = await trust(ctx.req);
      if (data === null) throw new CodedError('trust_unavailable');
      sendPage<TrustBoot>(ctx, trustPage, { ...data, pageToken: null });
    },
    'GET /console': (ctx) => {
      ctx.set(consoleHeaders);
      const [secureUrl = null, plainUrl = null] = [secureBase(ctx.req), plainBase(ctx.req)].map((base) =>
        base === null ? null : `${base}/console`,
      );
      sendPage<ConsoleBoot>(ctx, consolePage, {
        pageToken: null,
        timeZone: timeZone(),
        hasSecret,
        hasSignOn,
        secureUrl,
        plainUrl,
      });
    },
    'GET /console/preview': async (ctx) => {
      ctx.set(previewHeaders(readFields(previewQuery, ctx.query).elsewhere === 'on'));
      sendPage<PreviewBoot>(ctx, preview, { timeZone: timeZone(), pageToken: await pageToken() });
    },
    'GET /api/docs': (ctx) => {
      ctx.set(docsHeaders);
      ctx.type = 'text/html';
      ctx.set('Cache-Control', 'no-cache');
      ctx.body = docs;
    },
    'GET /assets/*path': (ctx) =>
      sendFile(ctx, ctx.path.slice('/assets'.length), {
        root: join(rendererDir, 'assets'),
        immutable: true,
        maxAge: '1y',
        index: false,
      }),
  };

  return {
    routes,
    /** Fills a response with the "page not found" page. */
    sendMissing: (ctx: Pick<Context, 'type' | 'set' | 'body'>): void => {
      const screens = content
        .screens()
        .slice(0, MAX_LINKED)
        .map(({ slug, name }) => ({ slug, name }));
      sendPage<MissingBoot>(ctx, missing, { pageToken: null, screens });
    },
  };
};
