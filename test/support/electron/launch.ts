/** Electron itself, where it can be had. */
import { _electron, type ElectronApplication } from 'playwright-core';

/** @param executablePath absent: that of the `electron` package */
export const launchReal = (
  args: string[],
  env: Record<string, string>,
  executablePath?: string,
): Promise<ElectronApplication> =>
  _electron.launch({
    args,
    env: { ...(process.env as typeof env), ...env },
    // Without it Playwright adds --no-sandbox, which the packaged app refuses.
    chromiumSandbox: true,
    ...(executablePath !== undefined && { executablePath }),
  });
