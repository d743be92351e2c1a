/** Films as people have them: what ffmpeg makes them from, and what a site makes of them. */
import { readFileSync } from 'node:fs';
import { makeMedium } from '../../support/media.ts';
import type { Sample } from './sample.ts';

const SECONDS = 4;
/** Much, for a page that falls behind on a busy machine still shows its end. */
const LAST = 1.5;

interface Marks {
  size?: string;
  rate?: number;
  /** Filters behind the marks. */
  more?: string;
}

/** A film whose first second is red and whose last seconds are green, yellow between, with white in its upper left corner. */
const marked = ({ size = '320x180', rate = 25, more }: Marks = {}): string[] => [
  ...['-f', 'lavfi', '-i'],
  [
    `color=0xdcc828:size=${size}:rate=${rate}:duration=${SECONDS}`,
    "drawbox=color=0xe62828:t=fill:enable='lt(t,1)'",
    `drawbox=color=0x28c83c:t=fill:enable='gte(t,${SECONDS - LAST})'`,
    'drawbox=w=iw/4:h=ih/4:color=white:t=fill',
    ...(more === undefined ? [] : [more]),
  ].join(','),
];
const tone = (seconds = SECONDS): string[] => ['-f', 'lavfi', '-i', `sine=frequency=440:duration=${seconds}`];
const aac = ['-c:a', 'aac'];
const first = ['-movflags', '+faststart'];
const h264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p'];
const hevc = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none'];
const hvc1 = ['-tag:v', 'hvc1'];
const plain = [...marked(), ...tone(), ...h264];
const pal = { size: '720x576', more: 'setdar=16/9' };

type Row = [
  name: string,
  rendition: Sample['rendition'],
  how: string[],
  more?: Partial<Sample> & { end?: (file: Buffer) => Buffer },
];

const cutAt =
  (share: number) =>
  (file: Buffer): Buffer =>
    file.subarray(0, Math.floor(file.length * share));

/** Says that a film is to be turned clockwise (ISO/IEC 14496-12, 8.3.2), from 180x320 to 320x180. */
const turned = (file: Buffer): Buffer => {
  const copy = Buffer.from(file);
  const matrix = copy.indexOf('tkhd') + 4 + 40;
  const values = [0, 0x10000, 0, -0x10000, 0, 0, 320 * 0x10000, 0, 0x40000000];
  for (const [at, value] of values.entries()) copy.writeInt32BE(value, matrix + at * 4);
  return copy;
};

/** Overwrites a few bytes in the middle, as a card that is wearing out does. */
const scratched = (file: Buffer): Buffer => {
  const copy = Buffer.from(file);
  for (let at = Math.floor(copy.length / 3); at < copy.length - 8; at += Math.floor(copy.length / 4))
    copy.fill(0, at, at + 8);
  return copy;
};

const rows: Row[] = [
  // Phones.
  [
    'phone.mov',
    'h264',
    [...marked({ more: 'transpose=cclock' }), ...tone(), ...hevc, ...hvc1, ...aac],
    { end: turned },
  ],
  ['hevc.mp4', 'h264', [...marked(), ...tone(), ...hevc, ...hvc1, ...aac]],
  ['hevc-hev1.mp4', 'h264', [...marked(), ...hevc, '-tag:v', 'hev1', ...first]],
  ['hevc-10bit.mp4', 'h264', [...marked(), ...hevc, ...hvc1, '-pix_fmt', 'yuv420p10le']],
  [
    'hevc-hdr.mov',
    'h264',
    [
      ...marked({
        more: 'zscale=tin=bt709:min=bt709:pin=bt709:rin=tv:t=smpte2084:m=bt2020nc:p=bt2020:r=tv,format=yuv420p10le',
      }),
      ...hevc,
      ...hvc1,
      '-color_trc',
      'smpte2084',
      '-color_primaries',
      'bt2020',
      '-colorspace',
      'bt2020nc',
    ],
  ],
  ['hevc.mkv', 'h264', [...marked(), ...tone(), ...hevc, ...aac]],
  [
    'recorder.mp4',
    null,
    [...marked({ rate: 30, more: "select='not(eq(mod(n,7),3))+lt(t,0.2)'" }), '-vsync', 'vfr', ...h264, ...first],
  ],
  ['gap.mp4', 'h264', [...marked({ more: "select='lt(t,1)+gt(t,2)'" }), '-vsync', 'vfr', ...h264, ...first]],
  ['old-phone.3gp', 'h264', [...marked({ size: '352x288', more: 'setdar=16/9' }), '-c:v', 'h263']],
  // As they are.
  ['plain.mp4', null, [...plain, ...aac, ...first]],
  ['quiet.mp4', null, [...marked(), ...h264, ...first]],
  ['turned.mp4', null, [...marked({ more: 'transpose=cclock' }), ...h264, ...first], { end: turned }],
  ['anamorphic.mp4', null, [...marked({ size: '160x180', more: 'setsar=2/1' }), ...h264, ...first]],
  ['far-keys.mp4', null, [...marked(), ...h264, '-g', '9999', '-sc_threshold', '0', ...first]],
  ['bframes.mp4', null, [...marked(), ...h264, '-bf', '8', '-x264-params', 'open-gop=1:keyint=12', ...first]],
  ['vp8.webm', null, [...marked(), ...tone(), '-c:v', 'libvpx', '-b:v', '1M', '-c:a', 'libvorbis', '-ac', '2']],
  ['vp9.webm', null, [...marked(), ...tone(), '-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-c:a', 'libopus']],
  ['av1.mp4', null, [...marked(), ...tone(), '-c:v', 'libsvtav1', '-preset', '12', ...aac, ...first]],
  ['fragments.mp4', null, [...plain, ...aac, '-movflags', '+frag_keyframe+empty_moov']],
  ['long-sound.mp4', null, [...marked(), ...tone(6), ...h264, ...aac, ...first], { seconds: 6 }],
  // Another container.
  ['late.mp4', 'remux', [...plain, ...aac]],
  ['desk.mov', 'remux', [...plain, '-c:a', 'pcm_s16le']],
  ['cinema.mkv', 'remux', [...plain, '-c:a', 'ac3']],
  ['camera.ts', 'remux', [...plain, ...aac]],
  ['camera.m2ts', 'remux', [...plain, '-c:a', 'ac3', '-mpegts_m2ts_mode', '1', '-f', 'mpegts']],
  ['desk.avi', 'remux', [...marked(), ...tone(), ...h264, '-bf', '0', '-c:a', 'mp3']],
  ['desk.flv', 'remux', [...plain, ...aac]],
  ['av1.mkv', 'remux', [...marked(), ...tone(), '-c:v', 'libsvtav1', '-preset', '12', '-c:a', 'libopus']],
  // Editors, discs and old cameras.
  ['high10.mp4', 'h264', [...marked(), ...h264.slice(0, -1), 'yuv420p10le', ...first]],
  ['studio.mp4', 'h264', [...marked(), ...h264.slice(0, -1), 'yuv422p', ...first]],
  ['screen.mp4', 'h264', [...marked(), ...h264.slice(0, -1), 'yuv444p', ...first]],
  ['prores.mov', 'h264', [...marked(), ...tone(), '-c:v', 'prores_ks', '-c:a', 'pcm_s16le']],
  ['dnxhd.mov', 'h264', [...marked({ size: '1280x720', rate: 25 }), '-c:v', 'dnxhd', '-profile:v', 'dnxhr_sq']],
  ['disc.mpg', 'h264', [...marked(pal), ...tone(), '-c:v', 'mpeg2video', '-q:v', '4', '-c:a', 'mp2']],
  [
    'tv.ts',
    'h264',
    [
      ...marked({ ...pal, more: 'setdar=16/9,setfield=tff' }),
      ...tone(),
      '-c:v',
      'mpeg2video',
      '-q:v',
      '4',
      '-flags',
      '+ilme+ildct',
      '-c:a',
      'mp2',
    ],
  ],
  ['lines.mp4', 'h264', [...marked({ more: 'setfield=tff' }), ...h264, '-flags', '+ilme+ildct', ...first]],
  ['tape.avi', 'h264', [...marked(pal), '-c:v', 'dvvideo', '-pix_fmt', 'yuv420p']],
  ['xvid.avi', 'h264', [...marked(), ...tone(), '-c:v', 'mpeg4', '-vtag', 'XVID', '-c:a', 'mp3']],
  ['mjpeg.avi', 'h264', [...marked(), '-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p']],
  ['windows.wmv', 'h264', [...marked(), ...tone(), '-c:v', 'wmv2', '-c:a', 'wmav2']],
  ['flash.flv', 'h264', [...marked(), '-c:v', 'flv']],
  ['theora.ogv', 'h264', [...marked(), '-c:v', 'libtheora', '-q:v', '7']],
  ['sport.mp4', 'h264', [...marked({ rate: 120 }), ...h264, ...first]],
  ['wall.mp4', 'h264', [...marked({ size: '4096x2304', rate: 10 }), ...h264, '-preset', 'ultrafast', ...first]],
  // Damaged.
  ['cut.ts', 'remux', [...plain, ...aac], { end: cutAt(0.7), isCut: true }],
  ['cut.mkv', 'remux', [...plain, ...aac], { end: cutAt(0.7), isCut: true }],
  ['scratched.ts', 'remux', [...plain, ...aac], { end: scratched, isCut: true }],
  ['cut.mp4', 'failed', [...plain, ...aac], { end: cutAt(0.7) }],
];

export const films: Sample[] = rows.map(([name, rendition, how, { end, ...more } = {}]) => ({
  name,
  kind: 'video',
  rendition,
  seconds: SECONDS,
  make: () => {
    const file = readFileSync(makeMedium(name, how));
    return end?.(file) ?? file;
  },
  ...more,
}));
