import { describe, expect, it } from 'vitest';
import { defaultPlan, ffmpegArguments } from '../../service/streams/plan.ts';
import { parseSource } from '../../service/streams/source.ts';
import { noSalt } from './salt.ts';

const runId = '0123456789abcdef';
const wordsFor = (url: string, change = {}, disableAudio = false) =>
  ffmpegArguments(parseSource(url, disableAudio, noSalt), { ...defaultPlan, ...change }, runId);
const lineFor = (...given: Parameters<typeof wordsFor>) => ` ${wordsFor(...given).join(' ')} `;

describe('ffmpeg', () => {
  it('gets the source as one word, behind what limits it, and writes to pipes alone', () => {
    const words = wordsFor('rtmp://user:secret@example.com/live/a');
    expect(words.filter((word) => word.includes('example.com'))).toEqual(['rtmp://user:secret@example.com/live/a']);
    expect(words.indexOf('-protocol_whitelist')).toBeLessThan(words.indexOf('-i'));
    expect(words.filter((word) => word.startsWith('pipe:'))).toEqual(['pipe:1', 'pipe:3']);
    expect(words).toContain('-nostdin');
    expect(words.join(' ')).toContain(`-metadata run=${runId}`);
  });

  it.each([
    ['rtmp://a/b', 'rtmp,tcp'],
    ['rtmps://a/b', 'rtmps,tls,tcp'],
    ['rtsp://a/b', 'rtsp,rtp,udp,tcp'],
    ['rtsps://a/b', 'rtsps,rtp,udp,tls,tcp'],
    ['srt://a:1', 'srt'],
  ])('may open for %s only %s', (url, protocols) => {
    expect(lineFor(url)).toContain(` -protocol_whitelist ${protocols} `);
  });

  it.each(['rtmp://a/b', 'rtmps://a/b', 'srt://a:1'])('waits ten seconds for %s', (url) => {
    expect(lineFor(url)).toContain(' -rw_timeout 10000000 ');
  });

  it.each(['rtmp://a/b', 'rtmps://a/b', 'rtsp://a/b', 'rtsps://a/b', 'srt://a:1'])('does not listen for %s', (url) => {
    expect(lineFor(url)).not.toMatch(/ -(?:timeout|listen|stimeout) /);
  });

  it('copies what can be copied', () => {
    expect(lineFor('rtmp://a/b')).toMatch(/ -map 0:v:0\? -c:v copy -map 0:a:0\? -c:a copy /);
  });

  it('encodes what is to be encoded', () => {
    const line = lineFor('rtmp://a/b', { video: { codec: 'encode', track: 1 } });
    expect(line).toMatch(/ -map 0:v:1\? -c:v libx264 .* -map 0:a:0\? -c:a copy /);
    expect(line).toContain(' -pix_fmt yuv420p ');
    expect(lineFor('rtmp://a/b', { audio: { codec: 'encode', track: 0 } })).toMatch(/ -c:v copy .* -c:a aac /);
  });

  it('leaves out the sound that nobody wants', () => {
    expect(lineFor('rtmp://a/b', {}, true)).not.toContain('0:a');
  });

  it('leaves out the picture that there is not', () => {
    expect(lineFor('rtmp://a/b', { video: { codec: 'none', track: 0 } })).not.toContain('0:v');
  });

  it('shows keyframes to the watch, where the video is copied and its parameters come but once', () => {
    expect(lineFor('rtmps://a/b')).toMatch(
      / -map 0:v:0\? -an -c:v copy -bsf:v noise=drop=not\(key\) -f flv .* pipe:3 $/,
    );
    expect(lineFor('rtmp://a/b', { watch: false })).not.toContain('pipe:3');
    expect(lineFor('rtmp://a/b', { video: { codec: 'encode', track: 0 } })).not.toContain('pipe:3');
    expect(lineFor('srt://a:1')).not.toContain('pipe:3');
    expect(lineFor('rtsp://a/b')).not.toContain('pipe:3');
  });

  it('looks longer where the first look was not enough', () => {
    expect(lineFor('rtmp://a/b')).toContain(' -probesize 200000 ');
    expect(lineFor('rtmp://a/b', { probe: 'thorough' })).not.toContain('probesize');
    expect(lineFor('srt://a:1')).not.toContain(' -probesize ');
  });
});
