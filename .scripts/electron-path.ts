import { createRequire } from 'node:module';

/** The path of Electron's executable, which the package downloads when it is first asked; null: it cannot be had here. */
export const electronPath = (): string | null => {
  try {
    return createRequire(import.meta.url)('electron') as string;
  } catch {
    return null;
  }
};
