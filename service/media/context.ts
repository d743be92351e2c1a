import type { EpochMs } from '../domain/time.ts';
import type { ServiceContext } from '../module.ts';
import type { Folders } from './folders.ts';
import type { Hasher } from './hasher.ts';

type FromService = 'options' | 'dirs' | 'log' | 'logs' | 'get' | 'random' | 'reserve' | 'tempo';

/** What the parts of the module receive. */
export interface MediaContext extends Pick<ServiceContext, FromService> {
  kiosk?: ServiceContext['kiosk'];
  /** The site's time. */
  now(): EpochMs;
  folders: Folders;
  hasher: Hasher;
  /** Ends what the service runs over a file that is about to be replaced. */
  release(path: string): Promise<void>;
}
