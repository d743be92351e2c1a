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

/**
 * Says which switches are refused and, for an AppImage, what to do: its launcher adds `--no-sandbox` by itself where the
 * system restricts user namespaces.
 * @param switches as `refusedSwitches` returns them, at least one
 * @param appImage the path of the AppImage that runs; null: none
 */
export const refusal = (switches: readonly string[], appImage: string | null): string => {
  const message = `${switches.join(' ')} is refused: it would open the kiosk to others`;
  if (appImage === null || !switches.includes('--no-sandbox')) return message;
  return `${message}.
An AppImage adds --no-sandbox where this system does not let programs create user namespaces, which the sandbox of web pages needs.
Install the .deb instead: it brings the permission for itself. Or permit user namespaces for all programs, as root:
  sysctl -w kernel.apparmor_restrict_unprivileged_userns=0   (Ubuntu 24.04 and newer)
  sysctl -w kernel.unprivileged_userns_clone=1   (older Debian)
The command \`unshare -Ur true\` (package util-linux) succeeds once they are permitted.`;
};
