/** Command-line switches: those that would weaken the kiosk's security, and those that it sets. */

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
 * The refused switches on a command line, as given. Chromium accepts one or two dashes, and on Windows also a slash and
 * any letter case.
 */
export const refusedSwitches = (argv: readonly string[]): string[] =>
  argv.filter((argument) => {
    const [, name] = /^(?:--?|\/)([^=]+)/.exec(argument) ?? [];
    return name !== undefined && refused.has(name.toLowerCase());
  });

/**
 * The message about refused switches. For an AppImage it says what to do: its launcher adds `--no-sandbox` if the system
 * restricts user namespaces.
 * @param switches returned by `refusedSwitches`; at least one
 * @param appImage the path of the AppImage that contains this program; null: none
 */
export const refusal = (switches: readonly string[], appImage: string | null): string => {
  const message = `${switches.join(' ')} is refused: it would weaken the kiosk's security`;
  if (appImage === null || !switches.includes('--no-sandbox')) return message;
  return `${message}.
An AppImage adds --no-sandbox if the system does not let programs create user namespaces, which the sandbox of web pages needs.
Install the .deb instead: it includes the permission. Or permit user namespaces for all programs, as root:
  sysctl -w kernel.apparmor_restrict_unprivileged_userns=0   (Ubuntu 24.04 and newer)
  sysctl -w kernel.unprivileged_userns_clone=1   (older Debian)
The command \`unshare -Ur true\` (package util-linux) succeeds once they are permitted.`;
};

/** Features by which Chromium decodes video in hardware on Linux (VA-API, V4L2), where the driver can; off by default. */
const decoding = ['AcceleratedVideoDecoder', 'AcceleratedVideoDecodeLinuxGL', 'AcceleratedVideoDecodeLinuxZeroCopyGL'];

/**
 * The value of `--enable-features` that asks for hardware decoding, beside what the command line asks for: of two such
 * switches only the last one counts.
 */
export const enabledFeatures = (argv: readonly string[]): string => {
  const given = argv.flatMap((argument) => /^--enable-features=(.+)$/.exec(argument)?.[1] ?? []);
  return [...given.slice(-1), ...decoding].join(',');
};
