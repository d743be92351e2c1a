/** The only seam between the kiosk and the service that it hosts. */
import type { Logger } from 'pino';
import { type Service, startService } from '../service/index.ts';
import { createLog } from '../service/log.ts';
import { EXIT_CONFIG, OptionsError, readOptions } from '../service/options.ts';
import type { Paths } from './paths.ts';

export interface HostedService extends Service {
  log: Logger;
}

/** The exit code for an error of the start: a bad setting has one of its own. */
export const exitCodeOf = (error: unknown): number => (error instanceof OptionsError ? EXIT_CONFIG : 1);

/**
 * Starts the service with the kiosk's defaults.
 * @throws OptionsError for a bad setting, else the system's error
 */
export const hostService = async ({ dataDir, rendererDir, resourcesDir }: Paths): Promise<HostedService> => {
  const options = readOptions({ defaults: { dataDir, discovery: 'on' } });
  const log = createLog(options.logLevel);
  const service = await startService(options, { log, rendererDir, resourcesDir });
  return { ...service, log };
};
