import { readFileSync } from 'node:fs';

/**
 * The memory that a process takes for itself, bytes. On Linux shared pages are left out, which are counted once for each
 * process otherwise: on a box of 1 GiB an idle page would be over its budget.
 * @param resident what the runtime reports, bytes; taken where the system tells nothing better
 */
export const ownMemory = (pid: number, resident: number): number => {
  try {
    const [, kibibytes] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kibibytes === undefined ? resident : Number(kibibytes) * 1024;
  } catch {
    return resident;
  }
};
