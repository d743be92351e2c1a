/** Files that people give to a page: dropped, chosen, or pasted. */
import { useConsole } from './context.tsx';

/** `hall.jpg`, or `hall-2.jpg` if the name belongs to a different file. */
export const freeName = (name: string, isTaken: (name: string) => boolean): string => {
  const [, stem = name, end = ''] = /^(.+?)(\.[^.]*)?$/.exec(name) ?? [];
  for (let count = 1; ; count += 1) {
    const free = count === 1 ? name : `${stem}-${count}${end}`;
    if (!isTaken(free)) return free;
  }
};

/** Endings of programs, which no display opens; the API takes them, a person hardly means them. */
const programs = /\.(?:apk|app|bat|cmd|com|cpl|deb|dll|dmg|exe|jar|js|lnk|msi|msix|ps1|rpm|scr|sh|vbs)$/i;

const named = (file: File, name: string): File =>
  file.name === name ? file : new File([file], name, { type: file.type, lastModified: file.lastModified });

/** A picture of the clipboard has no name of its own. */
export const pastedName = (type: string, now: Date): string =>
  `pasted-${now.toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}.${type.replace('image/', '')}`;

/**
 * Uploads files. Programs are refused with a sentence; one with the name of another medium gets a name of
 * its own.
 * @returns the names of those that are uploaded
 */
export const useReceive = (): ((files: Iterable<File>) => string[]) => {
  const { uploads, media, announcer, texts, format } = useConsole();
  return (files) => {
    const all = [...files];
    const refused = all.filter(({ name }) => programs.test(name)).map(({ name }) => name);
    if (refused.length > 0) {
      announcer.complain(texts.media.refused({ count: refused.length, names: format.list(refused.slice(0, 5)) }));
    }
    const known = new Map(media.list.value?.media.map(({ filename, size }) => [filename, size]));
    const accepted = all
      .filter(({ name }) => !programs.test(name))
      .map((file) => {
        const name = freeName(file.name, (each) => known.has(each) && known.get(each) !== file.size);
        known.set(name, file.size);
        return named(file, name);
      });
    uploads.add(accepted);
    return accepted.map(({ name }) => name);
  };
};
