/** How loud films and sounds are (EBU R 128), so that displays play all of them as loud as each other. */
import type { ServiceContext } from '../../module.ts';
import type { RunConfined } from '../../platform/confined.ts';
import type { Loudness } from '../catalog.ts';
import { inputOf } from '../inspect.ts';

/** Parses the summary of ffmpeg's filter `ebur128`; null: there is no sound, or nothing but silence. */
export const readLoudness = (report: string): Loudness | null => {
  const summary = report.slice(report.lastIndexOf('Integrated loudness:'));
  const [, integrated] = /^ +I: +(-?[\d.]+) LUFS$/m.exec(summary) ?? [];
  const [, peak] = /^ +Peak: +(-?[\d.]+) dBFS$/m.exec(summary) ?? [];
  return integrated === undefined || peak === undefined ? null : { integrated: Number(integrated), peak: Number(peak) };
};

/** A file may take so long, ms, and so much of each second of it. */
const LEAST_MS = 60_000;
const MS_PER_SECOND = 500;

/** Decodes the first sound of a file in a child; null: it has none; undefined: it could not be measured now. */
export const createMeter =
  ({ ffmpeg, confined }: Pick<ServiceContext, 'ffmpeg'> & { confined: RunConfined }) =>
  async (
    { path, mediaType, duration }: { path: string; mediaType: string; duration: number | null },
    signal: AbortSignal,
  ): Promise<Loudness | null | undefined> => {
    const program = await ffmpeg.find();
    if (program === null) return undefined;
    const filter = ['-map', '0:a:0', '-af', 'ebur128=peak=true:framelog=verbose', '-f', 'null', '-'];
    const args = [...inputOf(path, mediaType), '-nostats', ...filter];
    const timeout = LEAST_MS + (duration ?? 0) * MS_PER_SECOND;
    const run = () => confined({ program: program.path, args, file: path, timeout, isIdle: true, signal });
    const first = await run();
    // As a film is read.
    const { isDone, isCut, stderr } = first.isCut ? await run() : first;
    return isDone ? readLoudness(stderr) : isCut ? undefined : null;
  };
