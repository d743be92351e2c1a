/** What the system says of a process. */
import { readdirSync, readFileSync } from 'node:fs';

export interface Usage {
  descriptors: number;
  megabytes: number;
}

/** Open descriptors and resident memory of a process (Linux). */
export const usageOf = (pid: number): Usage => ({
  descriptors: readdirSync(`/proc/${pid}/fd`).length,
  megabytes: Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
});
