import { expect, it } from 'vitest';
import { ownMemory } from '../../main/processes.ts';

it.runIf(process.platform === 'linux')('takes what a process has for itself, without what it shares', () => {
  const resident = process.memoryUsage.rss();
  const own = ownMemory(process.pid, resident);
  expect(own).toBeGreaterThan(1024 ** 2);
  expect(own).toBeLessThan(resident);
});

it('takes what the runtime reports for a process that the system does not show', () => {
  expect(ownMemory(2 ** 30, 12_345)).toBe(12_345);
});
