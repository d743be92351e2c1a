/** Makes a rendition: runs the programs that read the original, in a folder of their own. */
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { demuxerOf, isOffice, isRaw } from '../../domain/media-types.ts';
import type { ServiceContext } from '../../module.ts';
import { type Confined, idleProcessors } from '../../platform/confined.ts';
import { findOnPath } from '../../platform/ffmpeg.ts';
import { bundlePaths } from '../../platform/worker.ts';
import type { PictureHeader } from '../headers/header.ts';
import { inputOf, readHeader, readReport } from '../inspect.ts';
import { findPreview, readPreview } from '../raw.ts';
import { filmArguments, pictureArguments, progressOf, remuxArguments } from './arguments.ts';
import { cubeOf } from './colours.ts';
import type { Profile } from './profile.ts';
import { reasons } from './reasons.ts';

/** A rendition to be made. */
export interface Original {
  path: string;
  mediaType: string;
  profile: Profile;
  /** Seconds; null: not known. */
  duration: number | null;
}

/** Why there is no rendition: a sentence for people. */
export class ConversionFault extends Error {
  /** What the program wrote. */
  readonly words: string;
  /** Whether the program was killed, as where memory is short: the next time it may not be. */
  readonly isCut: boolean;

  constructor(message: string, words = '', isCut = false) {
    super(message);
    this.words = words;
    this.isCut = isCut;
  }
}

/** Whether a conversion may have failed for what some builds of ffmpeg lack, and not for want of time, memory or room. */
export const mayLackFilter = (fault: unknown): boolean =>
  fault instanceof ConversionFault &&
  !fault.isCut &&
  fault.message !== reasons.slow &&
  !/No space left on device|Cannot allocate memory/.test(fault.words);

const GIB = 1024 ** 3;
const FILM_BYTES = 2 * GIB;
/** A picture, or a second of a film, may take so long, ms; films have the former beside. */
const PICTURE_MS = 120_000;
const FILM_MS_PER_SECOND = 30_000;
const DOCUMENT_MS = 300_000;
const ANIMATION_MS = 1_200_000;
const LONGEST_MS = 24 * 3_600_000;
/** Memory of LibreOffice and of WebAssembly, which cannot live under a limit of address space. */
const RESIDENT_BYTES = GIB;
const MAX_WORDS = 2_000;

/** Types that are decoded by libheif. */
const isHeif = (mediaType: string): boolean => /^image\/hei[cf]$/.test(mediaType);
/** Types whose pictures have no transparency. */
const isOpaque = (mediaType: string): boolean => /^image\/(?:jpeg|bmp|hei[cf])$/.test(mediaType) || isRaw(mediaType);

/** File name extension and media type of the renditions of a profile. */
export const formOf = (profile: Profile, mediaType: string): { extension: string; mediaType: string } =>
  profile === 'pdf'
    ? { extension: 'pdf', mediaType: 'application/pdf' }
    : profile !== 'picture'
      ? { extension: 'mp4', mediaType: 'video/mp4' }
      : isOpaque(mediaType)
        ? { extension: 'jpg', mediaType: 'image/jpeg' }
        : { extension: 'webp', mediaType: 'image/webp' };

const setting = (path: string, name: string, value: string): string =>
  `<item oor:path="/org.openoffice.Office.${path}"><prop oor:name="${name}" oor:op="fuse"><value>${value}</value></prop></item>`;

/** LibreOffice runs no macros, and follows no links to pictures, files and addresses. */
const officeSettings = `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
${setting('Common/Security/Scripting', 'BlockUntrustedRefererLinks', 'true')}
${setting('Common/Security/Scripting', 'DisableMacrosExecution', 'true')}
${setting('Common/Security/Scripting', 'DisableActiveContent', 'true')}
${setting('Writer/Content/Update', 'Link', '0')}
${setting('Calc/Content/Update', 'Link', '1')}
</oor:items>
`;

/** The program of `heif-process.ts`. */
const heifScript = bundlePaths('heif');

type Context = Pick<ServiceContext, 'ffmpeg' | 'options' | 'runScript' | 'tempo'> & { confined: Confined };

export const createConverter = ({ ffmpeg, confined, options, runScript, tempo }: Context) => {
  const { childEnvironment } = options;
  const findHeif = async (): Promise<string | null> =>
    (await findOnPath('heif-dec', childEnvironment)) ?? (await findOnPath('heif-convert', childEnvironment));
  /** Where its libraries are, too: what is on the PATH is a link. */
  const findOffice = async (): Promise<string | null> => {
    const found = await findOnPath('soffice', childEnvironment);
    return found === null ? null : realpath(found);
  };

  interface Run {
    /** Or a script of the service. */
    program: string | { script: string };
    args: readonly string[];
    file: string;
    folder: string;
    timeout: number;
    /** Bytes; absent: address space of a film. */
    resident?: number;
    /** A file that it writes while it makes progress; absent: nothing tells of its progress before its end. */
    out?: string;
    signal: AbortSignal;
    onOutput?(text: string): void;
  }

  /** @throws ConversionFault; the reason of the signal */
  const run = async ({ signal, program, out, onOutput, ...job }: Run): Promise<void> => {
    const still = new AbortController();
    const begun = performance.now();
    let isHeard = false;
    let written = '0 0';
    // ffmpeg says nothing while it moves the index of a film to the front, for which it writes the whole file again.
    const checkProgress = async (path: string): Promise<void> => {
      const { size, mtimeMs } = await stat(path).catch(() => ({ size: 0, mtimeMs: 0 }));
      const now = `${size} ${mtimeMs}`;
      if (!isHeard && now === written) still.abort();
      isHeard = false;
      written = now;
    };
    const watching = out === undefined ? undefined : setInterval(() => void checkProgress(out), tempo.media.still);
    const { resident } = job;
    const held = {
      ...job,
      isIdle: true,
      signal: AbortSignal.any([signal, still.signal]),
      onOutput: (text: string) => {
        isHeard = true;
        onOutput?.(text);
      },
    };
    const running =
      typeof program === 'object'
        ? runScript({ ...held, ...program, resident: resident ?? RESIDENT_BYTES })
        : confined({ ...(resident === undefined && { memory: FILM_BYTES }), ...held, program });
    const output = await running.finally(() => clearInterval(watching));
    signal.throwIfAborted();
    if (output.isDone) return;
    const isLate = still.signal.aborted || performance.now() - begun >= job.timeout;
    const isCut = !isLate && output.isCut === true;
    const reason = isLate ? reasons.slow : isCut ? reasons.unknown : reasons.damaged;
    throw new ConversionFault(reason, output.stderr.trim().slice(-MAX_WORDS), isCut);
  };

  const headerOf = async (path: string, mediaType: string): Promise<PictureHeader> => {
    const handle = await open(path);
    try {
      return await readHeader(handle, mediaType);
    } finally {
      await handle.close();
    }
  };

  /** Decodes a HEIF picture to one in the folder, upright. @returns its path and media type */
  const decodeHeif = async (path: string, folder: string, signal: AbortSignal): Promise<[string, string]> => {
    const program = await findHeif();
    const job = { file: path, folder, timeout: PICTURE_MS, signal };
    if (program === null) {
      const [out, script] = [join(folder, 'decoded.bmp'), heifScript.find(existsSync) ?? ''];
      await run({ ...job, program: { script }, args: [path, out], resident: RESIDENT_BYTES });
      return [out, 'image/bmp'];
    }
    await run({ ...job, program, args: ['-q', '95', path, join(folder, 'decoded.jpg')] });
    // Of several pictures each has a number.
    const [first] = (await readdir(folder)).filter((name) => /^decoded.*\.jpg$/.test(name)).sort();
    if (first === undefined) throw new ConversionFault(reasons.damaged);
    return [join(folder, first), 'image/jpeg'];
  };

  interface Work {
    folder: string;
    out: string;
    isPlain: boolean;
    signal: AbortSignal;
    onProgress(share: number): void;
  }

  /** Takes the picture for viewers out of a raw file. */
  const extractPreview = async (path: string, folder: string): Promise<string> => {
    const handle = await open(path);
    try {
      const preview = await findPreview(handle);
      if (preview === null) throw new ConversionFault(reasons.preview);
      const file = join(folder, 'preview.jpg');
      await writeFile(file, await readPreview(handle, preview));
      return file;
    } finally {
      await handle.close();
    }
  };

  const makePicture = async (ffmpegPath: string, { path, mediaType }: Original, work: Work): Promise<void> => {
    const { folder, out, isPlain, signal } = work;
    // What isolates programs is tried with one that knows -version.
    await confined.isolates(ffmpegPath);
    const decoded = isHeif(mediaType) ? await decodeHeif(path, folder, signal) : null;
    const preview = isRaw(mediaType) ? await extractPreview(path, folder) : null;
    const [file, type] = decoded ?? (preview === null ? [path, mediaType] : [preview, 'image/jpeg']);
    const { orientation, isAnimated, icc } = await headerOf(path, mediaType);
    const table = cubeOf(icc);
    const cube = table === null ? null : join(folder, 'colours.cube');
    if (table !== null && cube !== null) await writeFile(cube, table);
    const picture = {
      file,
      demuxer: demuxerOf(isAnimated && type === 'image/png' ? 'image/apng' : type) ?? '',
      isAnimated,
      orientation: decoded === null ? orientation : 1,
      cube,
    };
    const args = pictureArguments(picture, { isPlain, out });
    const timeout = isAnimated ? ANIMATION_MS : PICTURE_MS;
    await run({ program: ffmpegPath, args, file, folder, timeout, out, signal });
  };

  const makeFilm = async (ffmpegPath: string, { path, mediaType, profile, duration }: Original, work: Work) => {
    const { folder, out, isPlain, signal, onProgress } = work;
    const [, , ...input] = inputOf(path, mediaType);
    const quiet = ['-nostdin', '-hide_banner', ...input];
    const timeout = Math.min(LONGEST_MS, PICTURE_MS + (duration ?? 3_600) * FILM_MS_PER_SECOND);
    const probed = await confined({ program: ffmpegPath, args: quiet, file: path, timeout: PICTURE_MS, signal });
    const facts = readReport(probed.stderr);
    // Of an unknown size it would be made as large as a film can be.
    if (facts.codec === null) {
      const { isCut, stderr } = probed;
      throw new ConversionFault(isCut ? reasons.unknown : reasons.damaged, stderr.trim().slice(-MAX_WORDS), isCut);
    }
    const onOutput = (text: string): void => {
      const at = progressOf(text);
      if (at !== null && duration !== null) onProgress(Math.min(0.99, at / duration));
    };
    const make = (args: readonly string[]): Promise<void> =>
      run({ program: ffmpegPath, args, file: path, folder, timeout, out, signal, onOutput });
    const encode = () => make(filmArguments(quiet, facts, { threads: idleProcessors(), isPlain, out }));
    if (profile !== 'remux') return encode();
    return make(remuxArguments(quiet, facts, out)).catch((error: unknown) =>
      error instanceof ConversionFault ? encode() : Promise.reject(error),
    );
  };

  const makeDocument = async (office: string, { path }: Original, { folder, out, signal }: Work): Promise<void> => {
    const profile = join(folder, 'profile');
    await mkdir(join(profile, 'user'), { recursive: true });
    await writeFile(join(profile, 'user', 'registrymodifications.xcu'), officeSettings);
    const args = [
      ...[`-env:UserInstallation=${pathToFileURL(profile).href}`, '--headless', '--norestore', '--nologo'],
      ...['--convert-to', 'pdf', '--outdir', folder, path],
    ];
    const limits = { timeout: DOCUMENT_MS, resident: RESIDENT_BYTES };
    await run({ program: office, args, file: path, folder, ...limits, signal });
    const made = (await readdir(folder)).find((name) => name.endsWith('.pdf'));
    if (made === undefined) throw new ConversionFault(reasons.damaged);
    await rename(join(folder, made), out);
  };

  return {
    /** Why this box cannot convert an original: a sentence; null: it can. */
    async lackOf({ mediaType }: Pick<Original, 'mediaType'>): Promise<string | null> {
      const program = await ffmpeg.find();
      if (isOffice(mediaType)) {
        const office = await findOffice();
        if (office === null) return reasons.office;
        return (await confined.isolates(program?.path ?? office)) ? null : reasons.isolation;
      }
      return program === null ? reasons.program : null;
    },

    /**
     * Makes a rendition.
     * @param isPlain without what some builds of ffmpeg lack: the colours are those of the original
     * @param folder empty; everything that the programs write is in it
     * @param onProgress called with a share from 0 to 1
     * @returns the path of the rendition
     * @throws ConversionFault; the reason of the signal
     */
    async convert(original: Original, work: Omit<Work, 'out'>): Promise<string> {
      const isDocument = original.profile === 'pdf';
      const program = isDocument ? await findOffice() : ((await ffmpeg.find())?.path ?? null);
      if (program === null) throw new ConversionFault(isDocument ? reasons.office : reasons.program);
      const out = join(work.folder, `rendition.${formOf(original.profile, original.mediaType).extension}`);
      const make = isDocument ? makeDocument : original.profile === 'picture' ? makePicture : makeFilm;
      await make(program, original, { ...work, out });
      const { size } = await stat(out).catch(() => ({ size: 0 }));
      if (size === 0) throw new ConversionFault(reasons.damaged);
      return out;
    },
  };
};
export type Converter = ReturnType<typeof createConverter>;
