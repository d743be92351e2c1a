/** Why there is nothing to show, such as a service that could not be started, and the page that says so. */
import { FolderTaken, type Options, OptionsError } from '../service/public.ts';
import { ownPage } from './own-pages.ts';

export interface StartError {
  kind: 'port' | 'folder' | 'taken' | 'settings' | 'content' | 'other';
  /** One sentence that names the cause. */
  message: string;
}

/** Shown by a player of the baseline variant that has no screen. */
export const noScreen: StartError = { kind: 'content', message: '' };

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

/**
 * The URL of the kiosk's own page that names the problem to the person in front of the display.
 * @param error why there is no page; null: there is one, but it failed too often
 * @param retryMs until the next attempt
 */
export const troubleUrl = (error: StartError | null, retryMs: number): string =>
  ownPage('trouble.html', {
    kind: error?.kind ?? 'screen',
    message: error?.message ?? '',
    seconds: String(Math.round(retryMs / 1000)),
  });
