/**
 * The kiosk's own pages, by a scheme of their own. In a package they lie inside the asar, which Chromium's loader of
 * `file:` URLs cannot read (fuse `grantFileProtocolExtraPrivileges` is off); Node's file system can.
 */
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { protocol, session } from 'electron';

/** The origin of the kiosk's own pages. */
export const ownOrigin = 'kiosk://pages';

/** Their session: it alone knows the scheme, so that no other page can load them. */
export const ownPartition = 'kiosk-pages';

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** The URL of one of the kiosk's own pages. */
export const ownPage = (file: string, query: Readonly<Record<string, string>> = {}): string => {
  const url = new URL(`${ownOrigin}/${file}`);
  url.search = String(new URLSearchParams(query));
  return url.href;
};

/** Must be called before the app is ready. */
export const registerOwnPages = (): void => {
  protocol.registerSchemesAsPrivileged([{ scheme: 'kiosk', privileges: { standard: true, secure: true } }]);
};

/** Must be called once the app is ready, before the first window. @param pagesDir a flat folder */
export const serveOwnPages = (pagesDir: string): void => {
  session.fromPartition(ownPartition).protocol.handle('kiosk', async ({ url }) => {
    // `URL.origin` is null for schemes that Node does not know.
    const { host, pathname } = new URL(url);
    const name = pathname.slice(1);
    const type = mediaTypes[extname(name)];
    // A name, never a path.
    if (ownOrigin !== `kiosk://${host}` || type === undefined || !/^[\w.-]+$/.test(name)) {
      return new Response(null, { status: 404 });
    }
    try {
      return new Response(new Uint8Array(await readFile(join(pagesDir, name))), { headers: { 'Content-Type': type } });
    } catch {
      return new Response(null, { status: 404 });
    }
  });
};
