import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pictureArguments } from '../../service/media/renditions/arguments.ts';
import { hasFfmpeg, middleOf } from '../support/media.ts';
import { temporaryFolder } from '../support/service.ts';

/** An APP2 segment of JPEG (ICC.1:2022, B.4) with a profile of which the names alone matter here. */
const profileOf = (name: string): Buffer => {
  const profile = Buffer.alloc(0x20c);
  profile.writeUInt32BE(profile.length);
  profile.write('lcms\x04\x30\0\0mntrRGB XYZ ', 4, 'latin1');
  profile.write('acsp', 36, 'latin1');
  profile.write(name, 0x100, 'latin1');
  const body = Buffer.concat([Buffer.from('ICC_PROFILE\0\x01\x01', 'latin1'), profile]);
  const head = Buffer.from([0xff, 0xe2, 0, 0]);
  head.writeUInt16BE(body.length + 2, 2);
  return Buffer.concat([head, body]);
};

test.skipIf(!hasFfmpeg)('colours of Display P3 become those of sRGB, whose profile is none', () => {
  const folder = temporaryFolder();
  const [file, out] = [join(folder, 'p3.jpg'), join(folder, 'out.jpg')];
  const brown = ['-f', 'lavfi', '-i', 'color=0xC86432:s=64x64', '-frames:v', '1', '-pix_fmt', 'yuvj444p', '-q:v', '1'];
  execFileSync('ffmpeg', ['-v', 'error', ...brown, file]);
  const jpeg = readFileSync(file);
  writeFileSync(file, Buffer.concat([jpeg.subarray(0, 2), profileOf('Display P3'), jpeg.subarray(2)]));
  const picture = { file, demuxer: 'mjpeg', orientation: 1, isP3: true, isAnimated: false };
  execFileSync('ffmpeg', pictureArguments(picture, { isPlain: false, out }));
  const made = readFileSync(out);
  expect(made.includes('ICC_PROFILE')).toBe(false);
  // By the matrices of both (SMPTE EG 432-1, IEC 61966-2-1): 200, 100, 50 is 215, 93, 31.
  for (const [at, expected] of [215, 93, 31].entries()) {
    expect(Math.abs((middleOf(made)[at] ?? 0) - expected)).toBeLessThan(6);
  }
});
