/** The processes behind the pages, and what they weigh. */
import { readFileSync } from 'node:fs';
import type { Chromium, Parameters } from './chromium.ts';

interface TraceEvent {
  name: string;
  args: { data?: { frames?: { frame: string; processId: number }[] } };
}

// Chromium runs one trace at a time.
let last: Promise<unknown> = Promise.resolve();

const traceConfig = {
  includedCategories: ['disabled-by-default-devtools.timeline'],
  excludedCategories: ['*'],
  traceBufferSizeInKb: 512,
};

const trace = async ({ send, events }: Chromium, sessionId: string): Promise<TraceEvent[]> => {
  const collected: TraceEvent[] = [];
  let listen: (method: string, parameters: Parameters) => void = () => {};
  const complete = new Promise<void>((resolve) => {
    listen = (method, { value }) => {
      if (method === 'Tracing.dataCollected') collected.push(...(value as TraceEvent[]));
      if (method === 'Tracing.tracingComplete') resolve();
    };
  });
  // Of a page that is closed meanwhile no trace is ever complete.
  let leave: (method: string, parameters: Parameters) => void = () => {};
  const gone = new Promise<void>((resolve) => {
    leave = (method, parameters) => {
      if (method === 'Target.detachedFromTarget' && parameters['sessionId'] === sessionId) resolve();
    };
  });
  const record = async (): Promise<void> => {
    await send('Tracing.start', { traceConfig, transferMode: 'ReportEvents' }, sessionId);
    await send('Tracing.end', {}, sessionId);
    await complete;
  };
  events.on(sessionId, listen);
  events.on('browser', leave);
  try {
    await Promise.race([record(), gone]);
  } finally {
    events.off(sessionId, listen);
    events.off('browser', leave);
  }
  return collected;
};

/**
 * The ID of a page's process. Only a trace names it.
 * @returns 0 if the page has gone meanwhile
 */
export const findProcess = (chromium: Chromium, sessionId: string, targetId: string): Promise<number> => {
  const found = last.then(async () => {
    const events = await trace(chromium, sessionId).catch(() => []);
    const frames = events.flatMap(({ args }) => args.data?.frames ?? []);
    return frames.find(({ frame }) => frame === targetId)?.processId ?? 0;
  });
  last = found;
  return found;
};

/** What Electron reports of a process, in KiB; 0 where the system does not say. */
export const memoryOf = (pid: number): { workingSetSize: number; peakWorkingSetSize: number } => {
  let status = '';
  try {
    status = readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    // It has gone, or this is no Linux.
  }
  const read = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0);
  return { workingSetSize: read('VmRSS'), peakWorkingSetSize: read('VmHWM') };
};
