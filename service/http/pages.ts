/** The pages of the product and what they load. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import send from 'send';
import type { Content } from '../content/content.ts';
import { CodedError } from '../errors.ts';
import type { PlayerBoot } from '../wire.ts';
import type { Context, Routes } from './routes.ts';

interface Dependencies {
  content: Pick<Content, 'payload' | 'screens'>;
}

interface PagesOptions {
  /** The built renderer. */
  rendererDir: string;
  timeZone: string;
}

const bootSlot = /(<script type="application\/json" id="boot">)[^<]*(<\/script>)/;

/** Writes what a page needs to know into its HTML: as data, since inline scripts are forbidden. */
const withBoot = (html: string, boot: PlayerBoot): string => {
  const json = JSON.stringify(boot).replaceAll('<', '\\u003c');
  return html.replace(bootSlot, (_, open: string, close: string) => open + json + close);
};

const sendFile = (ctx: Context, path: string, options: send.SendOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    ctx.respond = false;
    ctx.status = 200;
    send(ctx.req, path, options)
      .on('error', (error: { status?: number }) => {
        ctx.respond = true;
        reject(error.status === 404 ? new CodedError('not_found') : error);
      })
      .on('end', resolve)
      .pipe(ctx.res);
    ctx.res.on('close', resolve);
  });

/** @throws Error where the renderer is not built */
export const createPages = async ({ content }: Dependencies, { rendererDir, timeZone }: PagesOptions): Promise<Routes> => {
  const player = await readFile(join(rendererDir, 'player', 'index.html'), 'utf8');

  return {
    'GET /': (ctx) => {
      ctx.type = 'text/plain';
      ctx.body = [
        'Signage player. Screens:',
        ...content.screens().map(({ slug, name }) => `  /screen/${slug}  ${name}`),
        '',
      ].join('\n');
    },
    'GET /screen/:slug': (ctx) => {
      const slug = ctx.params.slug ?? '';
      // The page of an unknown screen is the player too: it waits, calmly, until the screen is there.
      ctx.status = content.payload(slug) === undefined ? 404 : 200;
      ctx.type = 'text/html';
      ctx.set('Cache-Control', 'no-store');
      ctx.body = withBoot(player, { slug, timeZone });
    },
    'GET /assets/*path': (ctx) =>
      sendFile(ctx, ctx.path.slice('/assets'.length), {
        root: join(rendererDir, 'assets'),
        immutable: true,
        maxAge: '1y',
        index: false,
      }),
  };
};
