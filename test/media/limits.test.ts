import { describe, expect, it } from 'vitest';
import { requireSpace } from '../../service/media/quota.ts';
import { createPace } from '../../service/media/receive.ts';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

describe('requireSpace', () => {
  const volume = (size: number, free: number) => ({ bsize: 4096, blocks: size / 4096, bavail: free / 4096 });

  it.each([
    ['a small disk keeps 512 MiB', volume(8 * GIB, 512 * MIB), 0, true],
    ['not a byte less', volume(8 * GIB, 512 * MIB - 4096), 0, false],
    ['a large disk keeps 5 %', volume(100 * GIB, 5 * GIB), 0, true],
    ['not a byte less', volume(100 * GIB, 5 * GIB - 4096), 0, false],
    ['what is still to come counts', volume(8 * GIB, 612 * MIB), 100 * MIB, true],
    ['to the byte', volume(8 * GIB, 612 * MIB), 100 * MIB + 1, false],
    ['a tiny disk keeps half', volume(256 * MIB, 256 * MIB), 128 * MIB, true],
    ['and not a byte less', volume(256 * MIB, 256 * MIB), 128 * MIB + 1, false],
  ])('%s', (_, disk, wanted, fits) => {
    const attempt = () => requireSpace(disk, wanted);
    if (fits) expect(attempt).not.toThrow();
    else expect(attempt).toThrow(expect.objectContaining({ code: 'insufficient_storage', status: 507 }));
  });
});

describe('createPace', () => {
  /** The second at which a client of `bytesPerSecond` is found too slow; null within a minute. */
  const foundSlow = (bytesPerSecond: number, waiting = (_second: number) => true): number | null => {
    const pace = createPace();
    for (let second = 1; second <= 60; second += 1) {
      pace.arrived(bytesPerSecond);
      if (pace.tick(waiting(second))) return second;
    }
    return null;
  };

  it.each([
    ['nothing at all', 0, 10],
    ['just under the rate', 16 * 1024 - 1, 10],
    ['the rate', 16 * 1024, null],
  ])('%s', (_, rate, second) => {
    expect(foundSlow(rate)).toBe(second);
  });

  it('does not count seconds spent waiting for the disk', () => {
    expect(foundSlow(0, () => false)).toBe(null);
    expect(foundSlow(0, (second) => second % 2 === 0)).toBe(20);
  });

  it('gives no credit for an earlier burst', () => {
    const pace = createPace();
    pace.arrived(GIB);
    const seconds = Array.from({ length: 20 }, () => pace.tick(true));
    expect(seconds.indexOf(true)).toBe(19);
  });
});
