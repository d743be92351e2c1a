import { describe, expect, it } from 'vitest';
import { defaultPlan, type Plan, restart, revise } from '../../service/streams/plan.ts';

const rtmp = { scheme: 'rtmp', disableAudio: false } as const;
const srt = { scheme: 'srt', disableAudio: false } as const;

const report = (...tracks: string[]) =>
  [
    "Input #0, flv, from 'rtmp://example.com':",
    '  Metadata:',
    '    encoder         : Lavf59.27.100',
    ...tracks.map((track, n) => `  Stream #0:${n}${track.startsWith('[') ? '' : ': '}${track}`),
    "Output #0, mpegts, to 'pipe:1':",
    '  Stream #0:0: Video: mpeg4, yuv444p, q=2-31',
    '',
  ].join('\n');

const h264 =
  'Video: h264 (High), yuv420p(tv, bt709, progressive), 1920x1080 [SAR 1:1 DAR 16:9], 25 fps, 25 tbr, 1k tbn';
const aac = 'Audio: aac (LC), 44100 Hz, stereo, fltp, 128 kb/s';

interface Change {
  video?: Partial<Plan['video']>;
  audio?: Partial<Plan['audio']>;
  probe?: Plan['probe'];
  watch?: boolean;
}

const plan = ({ video, audio, ...rest }: Change): Plan => ({
  ...defaultPlan,
  video: { ...defaultPlan.video, ...video },
  audio: { ...defaultPlan.audio, ...audio },
  ...rest,
});

describe('the plan stays', () => {
  it.each([
    ['nothing is known yet', ''],
    ['the description is not complete', report('Video: hevc (Main), yuv420p').split('Output')[0] ?? ''],
    ['the source is H.264 and AAC', report(h264, aac)],
    ['it is so in any order', report(aac, h264)],
    ['it has no sound', report(h264)],
    ['it is a baseline of a camera', report('Video: h264 (Constrained Baseline), yuvj420p(pc), 640x480', aac)],
    ['the source is H.264 and AAC, and more that is no track', report(h264, aac, 'Data: none')],
    ['its tracks have ids and languages', report(`[0x100](und): ${h264}`, `[0x101](eng): ${aac}`)],
  ])('where %s', (_, text) => {
    expect(revise(defaultPlan, text, rtmp)).toBeNull();
  });
});

it('the plan stays where the sound that does not fit is not wanted', () => {
  expect(revise(defaultPlan, report(h264, 'Audio: mp3, 44100 Hz'), { ...rtmp, disableAudio: true })).toBeNull();
});

describe('the plan becomes', () => {
  it.each([
    [
      'to encode H.265',
      report('Video: hevc (Main), yuv420p(tv), 1920x1080', aac),
      plan({ video: { codec: 'encode' } }),
    ],
    ['to encode Sorenson', report('Video: flv1, yuv420p, 320x240', aac), plan({ video: { codec: 'encode' } })],
    [
      'to encode 10 bits',
      report('Video: h264 (High 10), yuv420p10le, 1920x1080', aac),
      plan({ video: { codec: 'encode' } }),
    ],
    [
      'to encode 4:2:2',
      report('Video: h264 (High 4:2:2), yuv422p, 1920x1080', aac),
      plan({ video: { codec: 'encode' } }),
    ],
    [
      'to encode MP3',
      report(h264, 'Audio: mp3, 44100 Hz, stereo, fltp, 64 kb/s'),
      plan({ audio: { codec: 'encode' } }),
    ],
    ['to encode LATM', report(h264, 'Audio: aac_latm (LC), 48000 Hz'), plan({ audio: { codec: 'encode' } })],
    ['to do without a picture', report(aac), plan({ video: { codec: 'none' } })],
    [
      'to do without the watch, where ffmpeg is too old for it',
      report(h264, aac).replace(/Output #0[^]*/, "Error parsing bitstream filter sequence 'noise=drop=not(key)'\n"),
      plan({ watch: false }),
    ],
    [
      'to look longer',
      `[flv @ 0x1] Could not find codec parameters for stream 0 (Video: h264, none): unspecified size\n${report(h264)}`,
      plan({ probe: 'thorough' }),
    ],
    [
      'to take what came last',
      report(aac, h264, 'Audio: mp3, 44100 Hz', 'Video: flv1, yuv420p'),
      plan({ video: { codec: 'encode', track: 1 }, audio: { codec: 'encode', track: 1 } }),
    ],
  ])('%s', (_, text, expected) => {
    expect(revise(defaultPlan, text, rtmp)).toEqual(expected);
    expect(revise(expected, text, rtmp)).toBeNull();
  });

  it('to copy again, once the source can be copied', () => {
    expect(revise(plan({ video: { codec: 'encode', track: 1 } }), report(h264, aac), rtmp)).toEqual(defaultPlan);
  });

  it('possible again, where the track it wants is not there', () => {
    const text = report(h264, aac).replace(/Output #0[^]*/, 'Output file #0 does not contain any stream\n');
    expect(revise(plan({ video: { track: 1 }, audio: { track: 1 } }), text, rtmp)).toEqual(defaultPlan);
  });

  it('no other for the further screenDocuments of a transport stream', () => {
    expect(revise(defaultPlan, report(h264, aac, 'Video: mpeg2video (Main), yuv420p'), srt)).toBeNull();
  });
});

describe('a stream is started afresh', () => {
  const newVideo = '[flv @ 0x55] New video stream 0:2 at pos:1261377 and DTS:8.726s';
  const newAudio = '[flv @ 0x55] New audio stream 0:2 at pos:1261377 and DTS:8.726s';

  it('with a longer look where a track came late', () => {
    expect(restart(defaultPlan, newAudio, rtmp, 100)).toEqual(plan({ probe: 'thorough' }));
  });

  it('with the same plan where the source has changed', () => {
    expect(restart(defaultPlan, newVideo, rtmp, 60_000)).toBe(defaultPlan);
  });

  it('not for a sound that nobody wants', () => {
    expect(restart(defaultPlan, newAudio, { ...rtmp, disableAudio: true }, 100)).toBeNull();
    expect(restart(defaultPlan, newVideo, { ...rtmp, disableAudio: true }, 60_000)).toBe(defaultPlan);
  });

  it('not for anything else that is said', () => {
    expect(restart(defaultPlan, '[h264 @ 0x1] error while decoding MB 1 2', rtmp, 60_000)).toBeNull();
  });
});
