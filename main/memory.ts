import { readFileSync } from 'node:fs';

/**
 * The memory of a process in bytes. On Linux without shared pages, which would count once for each process: on a box with
 * 1 GiB an idle page would exceed its budget.
 * @param resident what Electron reports, in bytes; returned if the system has no better figure
 */
export const ownMemory = (pid: number, resident: number): number => {
  try {
    const [, kibibytes] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kibibytes === undefined ? resident : Number(kibibytes) * 1024;
  } catch {
    return resident;
  }
};
