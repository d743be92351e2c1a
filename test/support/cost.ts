/** What the process of a worker has cost so far: its processor time with that of its children, and what it has started. */
import { readdirSync, readFileSync } from 'node:fs';

/** Of Linux: the kernel's USER_HZ. */
const TICKS_PER_SECOND = 100;

/** What has been started in this process, by kind. */
export const starts = { services: 0, kiosks: 0 };

interface Stat {
  parent: number;
  /** s, with what its children that have ended took. */
  seconds: number;
}

/** proc(5), `/proc/pid/stat`; undefined: the process has ended, or this is not Linux. */
const statOf = (pid: string): Stat | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may have spaces.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
    return { parent: Number(fields[1]), seconds: ticks / TICKS_PER_SECOND };
  } catch {
    return undefined;
  }
};

/** Seconds of processor time of this process and its descendants, those that have ended included if they were waited for. */
export const processorSeconds = (): number => {
  const own = process.cpuUsage();
  const self = (own.user + own.system) / 1e6;
  if (process.platform !== 'linux') return self;
  const children = new Map<number, { pid: number; seconds: number }[]>();
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? statOf(name) : undefined;
    if (stat === undefined) continue;
    const siblings = children.get(stat.parent) ?? [];
    siblings.push({ pid: Number(name), seconds: stat.seconds });
    children.set(stat.parent, siblings);
  }
  const below = (pid: number): number =>
    (children.get(pid) ?? []).reduce((sum, child) => sum + child.seconds + below(child.pid), 0);
  return (statOf(String(process.pid))?.seconds ?? self) + below(process.pid);
};
