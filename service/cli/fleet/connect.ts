/** Connects to the hub, with readable errors. */
import { webcrypto } from 'node:crypto';
import { CliError } from '../exit.ts';
import type { Hub } from './hub.ts';

/** The libraries of NATS take this when they are loaded; Node 18 has none. */
export const provideCrypto = (): void => {
  globalThis.crypto ??= webcrypto as typeof globalThis.crypto;
};

/** @throws CliError */
export const connectHub = async <Result>(
  url: string,
  credentials: string | null,
  work: (hub: Hub) => Promise<Result>,
): Promise<Result> => {
  provideCrypto();
  const { openHub, NotPrepared } = await import('./hub.ts');
  const { connectFault, withoutUser } = await import('../../platform/nats.ts');
  const shown = withoutUser(url);
  const hub = await openHub(url, credentials).catch((error: unknown) => {
    const fault = connectFault(error);
    const exit = fault === 'refuses the credentials' ? 'notAuthorised' : 'unreachable';
    throw new CliError(/^is not asked/.test(fault) ? 'configuration' : exit, `The hub at ${shown} ${fault}.`);
  });
  try {
    return await work(hub);
  } catch (error) {
    if (error instanceof CliError) throw error;
    if (error instanceof NotPrepared) {
      throw new CliError('refused', `The hub at ${shown} has no buckets. Run: signage fleet init`);
    }
    const { name, message } = error as Error;
    if (name === 'PermissionViolationError') {
      throw new CliError('notAuthorised', `The hub at ${shown} does not permit it: ${message}.`);
    }
    throw new CliError('refused', `The hub at ${shown} refuses: ${message}.`);
  } finally {
    await hub.close();
  }
};
