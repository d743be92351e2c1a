import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { ChildEnvironment } from '../platform/ffmpeg.ts';
import type { Orphans } from './orphans.ts';
import { ffmpegArguments, type Plan, restart, revise } from './plan.ts';
import { createSegmenter, type Segment } from './segmenter.ts';
import { redact, type StreamSource } from './source.ts';
import { createFormatWatch, createPace } from './watch.ts';

/** Callbacks of a run; `exited` is called last and exactly once. */
interface Listener {
  segment(segment: Segment): void;
  /** ffmpeg should be restarted with this plan. */
  misfit(plan: Plan): void;
  /** @param reason the last line of ffmpeg's log, without credentials */
  exited(reason: string): void;
}

export type Run = ReturnType<typeof startRun>;

export interface Launcher {
  ffmpegPath: string;
  environment: ChildEnvironment;
  /** The command prefix that makes ffmpeg die with the service. */
  deathSignalPrefix: readonly string[];
  orphans: Pick<Orphans, 'record' | 'forget'>;
}

/** How much of ffmpeg's log is kept, in characters: its beginning, in which it describes the source. */
const reportLength = 65_536;
/** A longer segment, in seconds, means that the clock of the source has jumped. */
const maxSegmentSeconds = 10;

/** Runs ffmpeg once, from its start to its end. */
export const startRun = (
  source: StreamSource,
  plan: Plan,
  { ffmpegPath, environment, deathSignalPrefix, orphans }: Launcher,
  listener: Listener,
) => {
  const runId = randomBytes(8).toString('hex');
  const [command, ...words] = [...deathSignalPrefix, ffmpegPath, ...ffmpegArguments(source, plan, runId)];
  const startedAt = performance.now();
  let child: ChildProcess;
  try {
    child = spawn(command as string, words, { env: { ...environment }, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  } catch (error) {
    // Node throws for system errors that it does not expect, such as ENOMEM.
    setImmediate(listener.exited, (error as Error).message);
    return { signal: () => undefined };
  }
  // Without free file descriptors there are no pipes; the child then emits `error`.
  const [, media, messages, keyframes] = (child.stdio ?? []) as unknown as [null?, Readable?, Readable?, Readable?];
  const recorded = child.pid === undefined ? undefined : orphans.record(child.pid, runId);

  const segmenter = createSegmenter();
  const pace = createPace();
  media?.on('data', (chunk: Buffer) => {
    const now = performance.now();
    for (const { position, segment } of segmenter.push(chunk)) {
      // When encoding, the delay may be caused by the encoder.
      const isLost = plan.video.codec !== 'encode' && pace.isLost(now, 1000 * position);
      if (isLost || (segment && segment.duration > maxSegmentSeconds)) return listener.misfit(plan);
      if (segment) listener.segment(segment);
    }
  });

  const format = createFormatWatch();
  keyframes?.on('data', (chunk: Buffer) => {
    if (format.isOther(chunk)) listener.misfit(plan);
  });

  let report = '';
  let lastLine = '';
  const reviseWith = (line: string): Plan | null => {
    if (report.length >= reportLength) return null;
    report += `${line}\n`;
    return revise(plan, report, source);
  };
  const read = (line: string): void => {
    lastLine = line.trimEnd() || lastLine;
    const better = reviseWith(line) ?? restart(plan, line, source, performance.now() - startedAt);
    if (better) listener.misfit(better);
  };
  if (messages) createInterface({ input: messages }).on('line', read);

  let spawnError = '';
  child.on('error', (error) => {
    spawnError = error.message;
  });
  child.on('close', async (code, signal) => {
    listener.exited(redact(spawnError || lastLine, source) || `exit ${signal ?? code}`);
    await recorded;
    await orphans.forget(runId);
  });

  return {
    /** SIGCONT has no effect on Windows, which does not suspend processes. */
    signal: (name: 'SIGCONT' | 'SIGTERM' | 'SIGKILL'): void => {
      if (name !== 'SIGCONT' || process.platform !== 'win32') child.kill(name);
    },
  };
};
