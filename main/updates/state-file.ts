/** The one file that outlives a restart; written whole, and durable before anything is done that hangs on it. */
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { emptyState, type GateState } from './gate.ts';

const isState = (value: unknown): value is GateState => {
  const { trial, failed } = (value ?? {}) as Partial<GateState>;
  const isTrial =
    trial === null ||
    (typeof trial === 'object' &&
      [trial.version, trial.from].every((version) => typeof version === 'string') &&
      typeof trial.installedAt === 'number' &&
      Array.isArray(trial.starts));
  return isTrial && Array.isArray(failed) && failed.every((version) => typeof version === 'string');
};

/** What was recorded; nothing, where there is no file or a damaged one: an update must never stop a start. */
export const readState = async (path: string): Promise<GateState> => {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return isState(value) ? value : emptyState;
  } catch {
    return emptyState;
  }
};

/** @throws the system's error; then the file is the one before */
export const writeState = async (path: string, state: GateState): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  const handle = await open(`${path}.new`, 'w', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(state)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${path}.new`, path);
  if (process.platform === 'win32') return;
  const folder = await open(dirname(path));
  await folder.sync().finally(() => folder.close());
};
