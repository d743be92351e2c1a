import { join } from 'node:path';
import { app } from 'electron';

/** Where things are, packaged or run from a checkout. */
export interface Paths {
  /** The platform's folder for this app's data; `SIGNAGE_DATA_DIR` goes before it. */
  dataDir: string;
  rendererDir: string;
  resourcesDir: string;
}

export const findPaths = (): Paths => ({
  dataDir: app.getPath('userData'),
  rendererDir: join(app.getAppPath(), 'dist', 'renderer'),
  resourcesDir: app.isPackaged ? process.resourcesPath : join(app.getAppPath(), 'resources'),
});
