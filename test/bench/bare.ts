/**
 * A page that is watched as little as can be. Playwright has Chromium keep the body of every answer, for whoever asks for
 * it later, so that a page which streams seems to grow.
 */
import { launchChromium } from '../support/electron/chromium.ts';

export interface BarePage {
  /** Calls a function in the page; it must not refer to anything outside itself. */
  evaluate<Result, Argument>(run: (argument: Argument) => Result, argument?: Argument): Promise<Awaited<Result>>;
  /** Sends a command of the Chrome DevTools Protocol to the page. */
  send(method: string): Promise<Record<string, unknown>>;
  /** The ids of the browser's processes of a type. */
  processes(type: string): Promise<number[]>;
  close(): void;
}

const call = (run: unknown, argument: unknown): string => `(${String(run)})(${JSON.stringify(argument) ?? ''})`;

/** @param prepare called in the page before its own scripts, with the argument */
export const openBarePage = async <Argument>(
  url: string,
  { width, height }: { width: number; height: number },
  prepare?: { run: (argument: Argument) => void; argument: Argument },
): Promise<BarePage> => {
  const chromium = await launchChromium();
  const { targetId } = await chromium.send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await chromium.send('Target.attachToTarget', { targetId, flatten: true });
  const send = (method: string, parameters?: Record<string, unknown>) =>
    chromium.send(method, parameters, String(sessionId));
  await send('Page.enable');
  await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
  if (prepare !== undefined) {
    const source = call(prepare.run, prepare.argument);
    await send('Page.addScriptToEvaluateOnNewDocument', { source });
  }
  await send('Page.navigate', { url });
  return {
    send,
    evaluate: async (run, argument) => {
      const expression = call(run, argument);
      const { result } = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
      return (result as { value: never }).value;
    },
    processes: async (type) => {
      const { processInfo } = await chromium.send('SystemInfo.getProcessInfo');
      return (processInfo as { type: string; id: number }[]).filter((each) => each.type === type).map(({ id }) => id);
    },
    close: chromium.kill,
  };
};
