/** Connects to the hub, with readable errors. */
import { webcrypto } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import type { UserCredentials } from '../../platform/nats.ts';
import { CliError } from '../exit.ts';
import { visible } from '../text.ts';

/** The libraries of NATS take this when they are loaded; Node 18 has none. */
export const provideCrypto = (): void => {
  globalThis.crypto ??= webcrypto as typeof globalThis.crypto;
};

/** How an error of the connection reads, and what it means for the run. */
const inWords = (error: unknown, shown: string): CliError => {
  if (error instanceof CliError) return error;
  const { name, message } = error as Error;
  if (name === 'NotPrepared') {
    return new CliError('refused', `The hub at ${shown} has no buckets. Run: signage fleet init`);
  }
  if (name === 'OldServer') {
    const why = `one message of a site can end it`;
    return new CliError(
      'refused',
      `The hub at ${shown} is nats-server ${visible(message)}: ${why}. Install 2.10.27 or newer.`,
    );
  }
  if (name === 'PermissionViolationError') {
    return new CliError('notAuthorised', `The hub at ${shown} does not permit it: ${visible(message)}.`);
  }
  if (name === 'JetStreamNotEnabled' || /jetstream not enabled/i.test(message)) {
    const what = 'these credentials are those of a site, or the hub has no JetStream';
    return new CliError(
      'notAuthorised',
      `The hub at ${shown} offers no buckets to them: ${what}. The head office has operator.creds, in the folder of the hub.`,
    );
  }
  if (['ClosedConnectionError', 'DrainingConnectionError', 'ConnectionError'].includes(name)) {
    return new CliError('unreachable', `The connection to the hub at ${shown} was lost.`);
  }
  if (name === 'TimeoutError' || (name === 'RequestError' && /timeout/i.test(message))) {
    return new CliError('unreachable', `The hub at ${shown} does not answer in time.`);
  }
  return new CliError('refused', `The hub at ${shown} refuses: ${visible(message)}.`);
};

/** @throws CliError */
export const connectHub = async <Result>(
  url: string,
  credentials: string | UserCredentials | null,
  work: (nats: NatsConnection) => Promise<Result>,
): Promise<Result> => {
  provideCrypto();
  const { connectFault, isUnusable, openLine, withoutUser } = await import('../../platform/nats.ts');
  const shown = withoutUser(url);
  const nats = await openLine({ url, credentials }, 'signage command line').catch((error: unknown) => {
    // Here an option may have named it.
    const fault = connectFault(error).replace(', which SIGNAGE_FLEET_CREDENTIALS names,', '');
    const exit = /^refuses the credentials/.test(fault) ? 'notAuthorised' : 'unreachable';
    throw new CliError(isUnusable(error) ? 'configuration' : exit, `The hub at ${shown} ${fault}.`);
  });
  // What is under way when the connection ends would wait for its own timeout.
  const lost = nats.closed().then(() => {
    throw new CliError('unreachable', `The connection to the hub at ${shown} was lost.`);
  });
  lost.catch(() => undefined);
  try {
    return await Promise.race([work(nats), lost]);
  } catch (error) {
    throw inWords(error, shown);
  } finally {
    await nats.close();
  }
};
