import { expect, test } from 'vitest';
import { isRestarted, isSupervised, unitOf } from '../../service/platform/supervisor.ts';

test.each([
  ['0::/system.slice/signage.service\n', { name: 'signage.service', isUser: false }],
  [
    '0::/user.slice/user-1000.slice/user@1000.service/app.slice/signage@lobby.service\n',
    { name: 'signage@lobby.service', isUser: true },
  ],
  ['12:cpu:/\n1:name=systemd:/system.slice/signage.service\n', { name: 'signage.service', isUser: false }],
  ['0::/user.slice/user-1000.slice/session-3.scope\n', null],
  ['0::/\n', null],
  ['', null],
])('the cgroup %j belongs to the service %j', (cgroup, unit) => {
  expect(unitOf(cgroup)).toEqual(unit);
});

test.each([
  ['MainPID=40\nRestart=always\n', true],
  ['Restart=on-failure\nMainPID=41\n', true],
  ['MainPID=40\nRestart=no\n', false],
  ['MainPID=40\nRestart=on-success\n', false],
  ['MainPID=99\nRestart=always\n', false],
  ['', false],
])('a unit that shows %j is restarted: %s', (shown, expected) => {
  expect(isRestarted(shown, [41, 40])).toBe(expected);
});

test('systemd is asked about the unit of this process, and no systemd means no supervisor', async () => {
  const asked: string[] = [];
  const run = async (program: string, args: readonly string[]): Promise<string> => {
    asked.push([program, ...args].join(' '));
    return `MainPID=${process.pid}\nRestart=always\n`;
  };
  const inUnit = async () => '0::/user.slice/user@1000.service/app.slice/signage.service\n';
  expect(await isSupervised(run, inUnit)).toBe(true);
  expect(asked).toEqual(['systemctl --user show --property=MainPID --property=Restart signage.service']);
  expect(await isSupervised(() => Promise.reject(new Error('ENOENT')), inUnit)).toBe(false);
  expect(await isSupervised(run, () => Promise.reject(new Error('ENOENT')))).toBe(false);
});
