/** Classifies why the service could not be started, for the trouble page. */
import { FolderTaken, type Options, OptionsError } from '../service/public.ts';

export interface StartError {
  kind: 'port' | 'folder' | 'taken' | 'settings' | 'other';
  /** One sentence that names the cause. */
  message: string;
}

const folders: readonly (string | null)[] = ['dataDir', 'uploadDir', 'mediaDir'] satisfies (keyof Options)[];
const diskCodes: readonly (string | undefined)[] = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EIO', 'ENOTDIR', 'EDQUOT'];

export const startErrorOf = (error: unknown): StartError => {
  const { message } = error instanceof Error ? error : { message: String(error) };
  if (error instanceof OptionsError) {
    return { kind: folders.includes(error.setting) ? 'folder' : 'settings', message };
  }
  if (error instanceof FolderTaken) return { kind: 'taken', message };
  const { code, cause } = error as { code?: string; cause?: { code?: string } };
  if (cause?.code === 'EADDRINUSE') return { kind: 'port', message };
  return { kind: diskCodes.includes(code) ? 'folder' : 'other', message };
};
