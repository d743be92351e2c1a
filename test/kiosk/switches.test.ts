import { expect, it } from 'vitest';
import { refusal, refusedSwitches } from '../../main/switches.ts';

it.each([
  ['--remote-debugging-port=9222'],
  ['--remote-debugging-pipe'],
  ['--inspect'],
  ['--inspect-brk=0.0.0.0:9229'],
  ['--no-sandbox'],
  ['-no-sandbox'],
  ['/NO-SANDBOX'],
  ['--disable-web-security'],
  ['--ignore-certificate-errors'],
  ['--js-flags=--allow-natives-syntax'],
  ['--load-extension=/tmp/x'],
  ['--host-rules=MAP * 10.0.0.1'],
])('%s is refused', (given) => {
  expect(refusedSwitches(['--ozone-platform=wayland', given])).toEqual([given]);
});

it.each([['--ozone-platform=wayland'], ['/opt/signage/inspect'], ['no-sandbox'], ['--user-data-dir=/x']])(
  '%s is taken',
  (given) => expect(refusedSwitches([given])).toEqual([]),
);

it('says what to do where the launcher of an AppImage adds --no-sandbox', () => {
  const message = refusal(['--no-sandbox'], '/home/ada/player.AppImage');
  expect(message).toContain('--no-sandbox is refused');
  expect(message).toContain('Install the .deb');
  expect(message).toContain('sysctl -w kernel.apparmor_restrict_unprivileged_userns=0');
});

it.each<[string[], string | null]>([
  [['--no-sandbox'], null],
  [['--inspect'], '/home/ada/player.AppImage'],
])('names %j and no more, run from %s', (switches, appImage) => {
  expect(refusal(switches, appImage)).toBe(`${switches[0]} is refused: it would weaken the kiosk's security`);
});
