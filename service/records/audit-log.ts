/** The file of the audit: JSON Lines, rotated. */
import { readFile, rename } from 'node:fs/promises';
import type { Logger } from 'pino';
import { type AuditRecord, auditRecord } from '../contract/console/audit.ts';
import { createBatches } from '../platform/batches.ts';
import { codeOf } from '../platform/store/disk.ts';
import { type Journal, openJournal } from '../platform/store/journal.ts';

/** Five files of 2 MiB: the last 20,000 changes or more. */
const MAX_BYTES = 2 * 1024 ** 2;
const MAX_FILES = 5;
/** Records that wait for a disk that takes none; further ones replace the oldest. */
const MAX_WAITING = 1_000;

interface Options {
  path: string;
  log: Pick<Logger, 'error'>;
}

export interface AuditLog {
  /** Resolves when the record is durable, or waits for a disk that takes no writes now. Never rejects. */
  write(record: AuditRecord): Promise<void>;
  /** The newest records, newest first. */
  newest(count: number): Promise<AuditRecord[]>;
  faults(): string[];
  close(): Promise<void>;
}

const parse = (line: string): AuditRecord[] => {
  try {
    const { success, data } = auditRecord.safeParse(JSON.parse(line));
    return success ? [data] : [];
  } catch {
    return [];
  }
};

export const createAuditLog = ({ path, log }: Options): AuditLog => {
  let journal: Journal | null = null;
  let waiting: string[] = [];
  let fault: string | null = null;
  const nameOf = (age: number): string => (age === 0 ? path : `${path}.${age}`);

  const rotate = async (): Promise<void> => {
    await journal?.close();
    journal = null;
    for (let age = MAX_FILES - 1; age > 0; age -= 1) await rename(nameOf(age - 1), nameOf(age)).catch(() => undefined);
  };

  /** The journal is opened by the first change, so a failing disk does not keep the box from starting. */
  const save = createBatches<string, void>(async (lines) => {
    waiting = [...waiting, ...lines].slice(-MAX_WAITING);
    try {
      if ((journal?.size() ?? 0) > MAX_BYTES) await rotate();
      journal ??= await openJournal(path);
      await journal.append(waiting);
      waiting = [];
      fault = null;
    } catch (error) {
      if (fault === null) log.error({ err: error }, 'the audit could not be written');
      fault = `The audit cannot be written (${codeOf(error) ?? 'see the log'}); ${waiting.length} records wait.`;
    }
  });

  return {
    write: (record) => save([JSON.stringify(record)]),
    newest: async (count) => {
      const records = waiting.toReversed().flatMap(parse);
      for (let age = 0; age < MAX_FILES && records.length < count; age += 1) {
        const text = await readFile(nameOf(age), 'utf8').catch(() => '');
        records.push(...text.split('\n').toReversed().flatMap(parse));
      }
      return records.slice(0, count);
    },
    faults: () => (fault === null ? [] : [fault]),
    close: async () => {
      if (waiting.length > 0) await save([]);
      await journal?.close();
    },
  };
};
