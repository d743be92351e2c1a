/**
 * The kiosk's own pages, served by the scheme `kiosk:`. In a package they are inside the asar, which Chromium cannot read
 * by `file:` URLs (the fuse `grantFileProtocolExtraPrivileges` is off); Node can.
 */
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Protocol, Session } from 'electron';

export const ownOrigin = 'kiosk://pages';

/** The URL of one of the pages. */
export const ownPage = (file: string, query: Readonly<Record<string, string>> = {}): string => {
  const url = new URL(`${ownOrigin}/${file}`);
  url.search = String(new URLSearchParams(query));
  return url.href;
};

/** Their session. Only this session handles the scheme, so that no other page can load them. */
export const ownPartition = 'kiosk-pages';

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** Reads a file of the pages. @param pagesDir a flat folder @returns null: there is no such file */
export const readOwnFile = async (
  pagesDir: string,
  name: string,
): Promise<{ type: string; bytes: Uint8Array<ArrayBuffer> } | null> => {
  const type = mediaTypes[extname(name)];
  // A file name, not a path.
  if (type === undefined || !/^[\w.-]+$/.test(name)) return null;
  const bytes = await readFile(join(pagesDir, name)).catch(() => null);
  return bytes === null ? null : { type, bytes: new Uint8Array(bytes) };
};

/** Must be called before the app is ready. */
export const registerOwnPages = (protocol: Protocol): void => {
  protocol.registerSchemesAsPrivileged([{ scheme: 'kiosk', privileges: { standard: true, secure: true } }]);
};

/** Must be called once the app is ready, before the first window. @param pagesDir a flat folder */
export const serveOwnPages = (session: Pick<Session, 'protocol'>, pagesDir: string): void => {
  session.protocol.handle('kiosk', async ({ url }) => {
    // `URL.origin` is null for schemes unknown to Node.
    const { host, pathname } = new URL(url);
    const file = ownOrigin === `kiosk://${host}` ? await readOwnFile(pagesDir, pathname.slice(1)) : null;
    if (file === null) return new Response(null, { status: 404 });
    return new Response(file.bytes, { headers: { 'Content-Type': file.type } });
  });
};
