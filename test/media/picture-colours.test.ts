import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pictureArguments } from '../../service/media/renditions/arguments.ts';
import { cubeOf } from '../../service/media/renditions/colours.ts';
import { hasFfmpeg, middleOf } from '../support/media.ts';
import { temporaryFolder } from '../support/service.ts';
import { adobeRgb, displayP3, profileOf, profileSegments } from './headers.ts';

// By the matrices of both (SMPTE EG 432-1, Adobe RGB (1998), IEC 61966-2-1), of 200, 100, 50.
test.skipIf(!hasFfmpeg).each([
  ['Display P3', displayP3, [215, 93, 31]],
  ['Adobe RGB', adobeRgb, [227, 100, 42]],
] as const)('colours of %s become those of sRGB, whose profile is none', (_, colours, expected) => {
  // What people call their folders is not what ffmpeg takes for a part of its language.
  const folder = join(temporaryFolder(), "it's [50%], a: b");
  mkdirSync(folder);
  const [file, cube, out] = [join(folder, 'p3.jpg'), join(folder, 'colours.cube'), join(folder, 'out.jpg')];
  const brown = ['-f', 'lavfi', '-i', 'color=0xC86432:s=64x64', '-frames:v', '1', '-pix_fmt', 'yuvj444p', '-q:v', '1'];
  execFileSync('ffmpeg', ['-v', 'error', ...brown, file]);
  const jpeg = readFileSync(file);
  const profile = profileOf(colours);
  writeFileSync(file, Buffer.concat([jpeg.subarray(0, 2), profileSegments(profile), jpeg.subarray(2)]));
  writeFileSync(cube, cubeOf(profile) ?? '');
  const picture = { file, demuxer: 'mjpeg', orientation: 1, cube, isAnimated: false };
  execFileSync('ffmpeg', pictureArguments(picture, { isPlain: false, out }));
  const made = readFileSync(out);
  expect(made.includes('ICC_PROFILE')).toBe(false);
  for (const [at, value] of expected.entries()) {
    expect(Math.abs((middleOf(made)[at] ?? 0) - value)).toBeLessThan(6);
  }
});

const sRgb = {
  name: 'sRGB',
  primaries: [
    [0.43607, 0.22249, 0.01392],
    [0.38515, 0.71687, 0.09708],
    [0.14307, 0.06061, 0.7141],
  ],
};
test.each<[string, Buffer | null]>([
  ['none', null],
  ['that of sRGB', profileOf(sRgb)],
  ['of printers', Buffer.from(profileOf(sRgb)).fill('CMYKLab ', 16, 24)],
  ['an empty one', Buffer.alloc(0)],
  ...[131, 200, 300, 340].map((length): [string, Buffer] => [
    `cut at ${length}`,
    profileOf(adobeRgb).subarray(0, length),
  ]),
])('a profile that is %s changes no colours', (_, profile) => {
  expect(cubeOf(profile)).toBeNull();
});
