/** How loud films and sounds are. */
import { expect, it } from 'vitest';
import { createMeter, readLoudness } from '../../service/media/renditions/loudness.ts';

const summary = [
  '[Parsed_ebur128_0 @ 0x1] Summary:',
  '',
  '  Integrated loudness:',
  '    I:         -21.8 LUFS',
  '    Threshold: -31.8 LUFS',
  '',
  '  True peak:',
  '    Peak:      -18.1 dBFS',
].join('\n');

it.each<[what: string, report: string, expected: object | null]>([
  ['the loudness and the peak', summary, { integrated: -21.8, peak: -18.1 }],
  ['nothing of silence, whose peak is no number', summary.replace('-18.1', '-inf'), null],
  ['nothing without a summary', 'Stream map matches no streams.', null],
  [
    'nothing that the author of the file wrote in front of it',
    `    I:  -1.0 LUFS\n${summary}`,
    { integrated: -21.8, peak: -18.1 },
  ],
])('the report tells %s', (_, report, expected) => {
  expect(readLoudness(report)).toEqual(expected);
});

it.each<[what: string, output: object, expected: object | null | undefined]>([
  ['a loudness', { isDone: true, stderr: summary }, { integrated: -21.8, peak: -18.1 }],
  ['that it has no sound', { stderr: 'Stream map matches no streams.' }, null],
  ['nothing where it was cut twice', { isCut: true }, undefined],
])('the measurement of a file tells %s', async (_, output, expected) => {
  const confined = async () => ({ isDone: false, isCut: false, stdout: Buffer.alloc(0), stderr: '', ...output });
  const measure = createMeter({ ffmpeg: { find: async () => ({ path: 'ffmpeg' }) as never }, confined });
  const song = { path: '/song.mp3', mediaType: 'audio/mpeg', duration: 1 };
  expect(await measure(song, new AbortController().signal)).toEqual(expected);
});
