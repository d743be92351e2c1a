import { describe, expect, it } from 'vitest';
import { unavailability } from '../../../service/platform/store/disk.ts';

const failed = (code: string, path?: string, syscall = 'open') =>
  Object.assign(new Error(code), { code, path, syscall });

describe('a file that can not be written', () => {
  it.each([
    ['EACCES', /^content\.json cannot be written or read \(EACCES\): let the user .* write to it and to its folder\.$/],
    ['EPERM', /^content\.json .* \(EPERM\): remove its protection/],
    ['EROFS', /^content\.json .* \(EROFS\): mount its disk writable\.$/],
    ['EIO', /^content\.json .* \(EIO\): check the health of its disk\.$/],
  ])('is named with what to do: %s', (code, expected) => {
    const path = '/data/content.json.0f8fad5b-d9cb-469f-a165-70867728950e.tmp';
    expect(unavailability(failed(code, path))).toMatch(expected);
  });

  it('is named so where the system does not say which', () => {
    expect(unavailability(failed('EROFS'))).toBe('A file cannot be written or read (EROFS): mount its disk writable.');
  });

  it.each([
    ['a program that may not be run', failed('EACCES', 'ffmpeg', 'spawn ffmpeg')],
    ['a port that may not be opened', failed('EACCES', undefined, 'listen')],
    ['a full disk', failed('ENOSPC')],
    ['an error of the service', new Error('oops')],
  ])('is not %s', (_, error) => {
    expect(unavailability(error)).toBeNull();
  });
});
