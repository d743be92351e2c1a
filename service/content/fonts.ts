/** What is wrong with the fonts of a house style that lie on this box. */
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContentFile } from '../contract/content.ts';
import type { ContentIssue } from '../contract/content-terms.ts';
import { remember } from '../domain/collections.ts';
import { mediaNameIn } from '../domain/media-names.ts';
import type { ServiceContext } from '../module.ts';
import { mostFontBytes, readFont } from './font-tables.ts';

/** What the languages of the player need beyond the letters of ASCII. */
const CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.,:;!?-–„“ÄÖÜäöüß€';
const MAX_KNOWN = 20;

const issueOf = async (bytes: Buffer): Promise<string | null> => {
  try {
    const has = await readFont(bytes);
    const missing = [...CHARACTERS].filter((character) => !has(character)).join('');
    return missing === '' ? null : `the font has no glyphs for ${missing}, which are shown in another font`;
  } catch (error) {
    return `the font is not used: ${(error as Error).message}`;
  }
};

export type FontCheck = (content: ContentFile) => Promise<ContentIssue[]>;

/** A font that is not on this box yet is no issue: the media say that it is missing. */
export const createFontCheck = ({ dirs }: Pick<ServiceContext, 'dirs'>): FontCheck => {
  /** By size and date of the file, with its path. */
  const known = new Map<string, Promise<string | null>>();

  const openFont = async (name: string): Promise<FileHandle | null> => {
    for (const folder of [dirs.uploads, dirs.media]) {
      const handle = await open(join(folder, name)).catch(() => null);
      if (handle !== null) return handle;
    }
    return null;
  };

  const read = async (name: string): Promise<string | null> => {
    const handle = await openFont(name);
    if (handle === null) return null;
    try {
      const { size, mtimeMs } = await handle.stat();
      const key = JSON.stringify([name, size, mtimeMs]);
      const found = known.get(key);
      if (found !== undefined) return await found;
      // One byte more than a font may have tells that it is too large.
      const length = Math.min(size, mostFontBytes + 1);
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0);
      const issue = issueOf(buffer.subarray(0, bytesRead));
      remember(known, key, issue, MAX_KNOWN);
      return await issue;
    } finally {
      await handle.close();
    }
  };

  return async ({ style }) => {
    const issues: ContentIssue[] = [];
    for (const use of ['display', 'text'] as const) {
      const name = mediaNameIn(style?.fonts?.[use] ?? '');
      const message = name === null ? null : await read(name).catch(() => null);
      if (message !== null) issues.push({ path: `style.fonts.${use}`, message });
    }
    return issues;
  };
};
