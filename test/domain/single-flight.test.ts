/** Calls that share their work. */
import { expect, test } from 'vitest';
import { nextFlight } from '../../service/domain/single-flight.ts';

test('a call while another is in progress gets the next one, which all such calls share', async () => {
  const ends: (() => void)[] = [];
  const call = nextFlight(async (key: string): Promise<string> => {
    const number = ends.length + 1;
    await new Promise<void>((end) => ends.push(end));
    if (number === 2) throw new Error('it failed');
    return `${key}${number}`;
  });
  const first = call('a');
  const [second, third] = [call('a'), call('a')];
  expect(ends).toHaveLength(1);
  ends[0]?.();
  expect(await first).toBe('a1');
  await expect.poll(() => ends.length).toBe(2);
  const fourth = call('a');
  ends[1]?.();
  await expect(Promise.all([second, third])).rejects.toThrow('it failed');
  await expect.poll(() => ends.length).toBe(3);
  ends[2]?.();
  expect(await fourth).toBe('a3');
});
