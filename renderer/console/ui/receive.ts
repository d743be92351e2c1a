/** Files that people give to a page: dropped, chosen, or pasted. */
import { freeName, hashOf, isActive, isInterrupted, named, normalized } from '../stores/uploads.ts';
import { useConsole } from './context.tsx';

/** Endings of programs, which no display opens; the API takes them, a person hardly means them. */
const programs = /\.(?:apk|app|bat|cmd|com|cpl|deb|dll|dmg|exe|jar|js|lnk|msi|msix|ps1|rpm|scr|sh|vbs)$/i;

/** What systems put into folders by themselves. */
const hidden = /^(?:\.|thumbs\.db$|desktop\.ini$)/i;
/** Files that are taken from folders that are dropped together. */
const MOST_FILES = 1_000;
/** Names in a sentence. */
const MOST_NAMES = 5;

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject));
/** @param onMissing called with the name of what cannot be read, or is too much */
const filesIn = async (entry: FileSystemEntry, most: number, onMissing: (name: string) => void): Promise<File[]> => {
  if (most <= 0) {
    onMissing(entry.name);
    return [];
  }
  if (entry.isFile) {
    return fileOf(entry as FileSystemFileEntry).then(
      (file) => [file],
      () => {
        onMissing(entry.name);
        return [];
      },
    );
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const entries: FileSystemEntry[] = [];
  // A folder is read in parts, until one is empty.
  for (let isMore = true; isMore && entries.length <= most; ) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject)).catch(
      () => {
        onMissing(entry.name);
        return [];
      },
    );
    isMore = part.length > 0;
    entries.push(...part.filter(({ name }) => !hidden.test(name)));
  }
  entries.sort((one, other) => one.name.localeCompare(other.name, undefined, { numeric: true }));
  const found: File[] = [];
  for (const each of entries) found.push(...(await filesIn(each, most - found.length, onMissing)));
  return found;
};

/** The files that are dropped, those of folders by their names. */
const droppedFiles = async ({ items, files }: DataTransfer, onMissing: (name: string) => void): Promise<File[]> => {
  const all = [...files];
  const entries = [...items].flatMap((item) => (item.kind === 'file' ? (item.webkitGetAsEntry() ?? []) : []));
  if (!entries.some(({ isDirectory }) => isDirectory)) return all;
  const found: File[] = [];
  for (const entry of entries) found.push(...(await filesIn(entry, MOST_FILES - found.length, onMissing)));
  return found;
};

/** Reads what is dropped, and complains of what is not read. */
export const useDropped = (): ((given: DataTransfer) => Promise<File[]>) => {
  const { announcer, texts, format } = useConsole();
  return async (given) => {
    const missing: string[] = [];
    const files = await droppedFiles(given, (name) => missing.push(name));
    if (missing.length > 0) {
      const names = format.few(missing, MOST_NAMES, texts.wall.more);
      announcer.complain(texts.media.notRead({ names, most: format.number(MOST_FILES) }));
    }
    return files;
  };
};

/** A picture of the clipboard has no name of its own. */
export const pastedName = (type: string, now: Date): string =>
  `pasted-${now.toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}.${type.replace('image/', '')}`;

/**
 * Uploads files. Programs are refused with a sentence; one with the name of a medium of other bytes gets a name of its
 * own.
 * @returns the names of those that are uploaded
 */
export const useReceive = (): ((files: Iterable<File>) => Promise<string[]>) => {
  const { uploads, media, announcer, texts, format } = useConsole();
  return async (given) => {
    const all = Array.from(given, normalized);
    const refused = all.filter(({ name }) => programs.test(name)).map(({ name }) => name);
    if (refused.length > 0) {
      announcer.complain(
        texts.media.refused({ count: refused.length, names: format.list(refused.slice(0, MOST_NAMES)) }),
      );
    }
    const files = all.filter(({ name }) => !programs.test(name));
    if (files.length === 0) return [];
    await media.load();
    const there = new Map(media.list.value?.media.map((medium) => [medium.filename, medium]));
    const sizes = new Set([...there.values()].map(({ size }) => size));
    const accepted: File[] = [];
    for (const file of files) {
      // What it is like is found out only where it may be one of those that are there.
      const sha256 = sizes.has(file.size)
        ? await hashOf(file, new AbortController().signal, () => undefined).catch(() => null)
        : null;
      // What was interrupted keeps its name: a slide may wait for it.
      const unsent = uploads.list.value.filter((upload) => isActive(upload) || isInterrupted(upload.error));
      const coming = [...unsent.map((upload) => upload.file), ...accepted];
      const name = freeName(file.name, (each) => {
        const other = coming.find((one) => one.name === each);
        if (other !== undefined) return other.size !== file.size || other.lastModified !== file.lastModified;
        return there.has(each) && there.get(each)?.sha256 !== sha256;
      });
      accepted.push(named(file, name));
    }
    uploads.add(accepted);
    return accepted.map(({ name }) => name);
  };
};
