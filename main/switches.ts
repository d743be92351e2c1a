/** Switches of Chromium's and Node's that would open the kiosk to whoever can start it with them. */

const refused: ReadonlySet<string> = new Set([
  'allow-file-access-from-files',
  'allow-running-insecure-content',
  'disable-gpu-sandbox',
  'disable-namespace-sandbox',
  'disable-seccomp-filter-sandbox',
  'disable-setuid-sandbox',
  'disable-site-isolation-trials',
  'disable-web-security',
  'gpu-launcher',
  'host-resolver-rules',
  'host-rules',
  'ignore-certificate-errors',
  'ignore-certificate-errors-spki-list',
  'inspect',
  'inspect-brk',
  'inspect-port',
  'inspect-publish-uid',
  'inspect-wait',
  'js-flags',
  'load-extension',
  'no-sandbox',
  'remote-allow-origins',
  'remote-debugging-address',
  'remote-debugging-io-pipes',
  'remote-debugging-pipe',
  'remote-debugging-port',
  'remote-debugging-targets',
  'renderer-cmd-prefix',
  'require',
  'single-process',
  'ssl-key-log-file',
  'utility-cmd-prefix',
]);

/**
 * The refused switches on a command line, as they were given. Chromium takes one dash or two, on Windows a slash too, and
 * there no notice of capitals.
 */
export const refusedSwitches = (argv: readonly string[]): string[] =>
  argv.filter((argument) => {
    const [, name] = /^(?:--?|\/)([^=]+)/.exec(argument) ?? [];
    return name !== undefined && refused.has(name.toLowerCase());
  });
