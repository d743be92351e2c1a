/** The file of the update state; written atomically, and durable before the action that it records. */
import { readFile } from 'node:fs/promises';
import { writeDurably } from '../files.ts';
import { emptyState, type GateState } from './gate.ts';

const isState = (value: unknown): value is GateState => {
  const { trial, failed } = (value ?? {}) as Partial<GateState>;
  const isTrial =
    trial === null ||
    (typeof trial === 'object' &&
      [trial.version, trial.from].every((version) => typeof version === 'string') &&
      Array.isArray(trial.starts));
  return isTrial && Array.isArray(failed) && failed.every((version) => typeof version === 'string');
};

/** The stored state; the empty state if the file is missing or damaged, because an update must never prevent a start. */
export const readState = async (path: string): Promise<GateState> => {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return isState(value) ? value : emptyState;
  } catch {
    return emptyState;
  }
};

/** @throws the system's error */
export const writeState = (path: string, state: GateState): Promise<void> =>
  writeDurably(path, `${JSON.stringify(state)}\n`);
