import { expect, it } from 'vitest';
import { refusedSwitches } from '../../main/switches.ts';

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
