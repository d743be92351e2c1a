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

interface FontIssue {
  message: string;
  /** Pages must not load it. */
  isRefused: boolean;
}

const issueOf = async (bytes: Buffer): Promise<FontIssue | null> => {
  try {
    const has = await readFont(bytes);
    const missing = [...CHARACTERS].filter((character) => !has(character)).join('');
    if (missing === '') return null;
    return { message: `the font has no glyphs for ${missing}, which are shown in another font`, isRefused: false };
  } catch (error) {
    return { message: `the font is not used: ${(error as Error).message}`, isRefused: true };
  }
};

export type FontCheck = ReturnType<typeof createFontCheck>;

/** A font that is not on this box yet is no issue: the media say that it is missing. */
export const createFontCheck = ({ dirs }: Pick<ServiceContext, 'dirs'>) => {
  /** By size and date of the file, with its path. */
  const known = new Map<string, Promise<FontIssue | null>>();

  const openFont = async (name: string): Promise<FileHandle | null> => {
    for (const folder of [dirs.uploads, dirs.media]) {
      const handle = await open(join(folder, name)).catch(() => null);
      if (handle !== null) return handle;
    }
    return null;
  };

  const read = async (name: string): Promise<FontIssue | null> => {
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

  const check = async ({ style }: ContentFile): Promise<(FontIssue & { use: string; address: string })[]> => {
    const issues: Awaited<ReturnType<typeof check>> = [];
    for (const use of ['display', 'text'] as const) {
      const address = style?.fonts?.[use] ?? '';
      const name = mediaNameIn(address);
      const issue = name === null ? null : await read(name).catch(() => null);
      if (issue !== null) issues.push({ ...issue, use, address });
    }
    return issues;
  };

  return {
    issues: async (content: ContentFile): Promise<ContentIssue[]> =>
      (await check(content)).map(({ use, message }) => ({ path: `style.fonts.${use}`, message })),
    /** The addresses of fonts that pages must not load. */
    refused: async (content: ContentFile): Promise<ReadonlySet<string>> =>
      new Set((await check(content)).flatMap(({ address, isRefused }) => (isRefused ? [address] : []))),
  };
};
