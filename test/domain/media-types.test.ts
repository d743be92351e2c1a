import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeType, mediaTypeOf, pictureKindOf } from '../../service/domain/media-types.ts';

describe('pictureKindOf', () => {
  it.each([
    ['/media/loop.mkv', 'video'],
    ['https://example.com/loop.webm?size=2', 'video'],
    ['/media/hall.avif', 'image'],
    ['https://example.com/camera', 'image'],
    ['/media/menu.pdf', null],
  ])('%s: %s', (url, kind) => expect(pictureKindOf(url)).toBe(kind));
});

describe('mediaTypeOf', () => {
  it.each([
    ['photo.jpg', 'image/jpeg'],
    ['PHOTO.JPEG', 'image/jpeg'],
    ['a#1?.png', 'image/png'],
    ['archive.tar.webp', 'image/webp'],
    ['/media/film.mp4', 'video/mp4'],
    ['/media/gr%C3%B6%C3%9Fe.svg', 'image/svg+xml'],
    ['/media/encoded%2Emp3', 'audio/mpeg'],
    ['/media/a%3Fb%23.vtt', 'text/vtt'],
    ['https://example.com/live/index.m3u8?token=a.png#b.gif', 'application/vnd.apple.mpegurl'],
    ['https://example.com/a.PDF?x=1', 'application/pdf'],
    ['HTTPS://EXAMPLE.COM/a.woff2', 'font/woff2'],
    ['https://example.png', null],
    ['https://example.com/folder.png/', null],
    ['https://example.com/page.html', null],
    ['/media/malformed%.png', null],
    ['rtmp://camera/live/one', null],
    ['https://[broken/a.png', null],
    ['.png', null],
    ['png', null],
    ['', null],
    ['constructor.__proto__', null],
  ])('%j -> %s', (input, type) => {
    expect(mediaTypeOf(input)).toBe(type);
  });

  it('never throws', () => {
    const text = fc.uint16Array().map((units) => String.fromCharCode(...units));
    fc.assert(fc.property(fc.oneof(text, fc.string(), fc.webUrl()), (any) => void mediaTypeOf(any)));
  });
});

const bytes = (latin1: string) => Buffer.from(latin1, 'latin1');

describe('judgeType', () => {
  it.each([
    ['a.png', '\x89PNG\r\n\x1a\n', 'image/png'],
    ['a.JPG', '\xff\xd8\xff\xe0', 'image/jpeg'],
    ['a.gif', 'GIF89a', 'image/gif'],
    ['a.webp', 'RIFF\x10\0\0\0WEBPVP8 ', 'image/webp'],
    ['a.avif', '\0\0\0\x1cftypavif', 'image/avif'],
    ['a.mp4', '\0\0\0\x18ftypisom', 'video/mp4'],
    ['a.m4a', '\0\0\0\x18ftypM4A ', 'audio/mp4'],
    ['a.mov', '\0\0\0\x08wide', 'video/quicktime'],
    ['a.webm', '\x1aE\xdf\xa3', 'video/webm'],
    ['a.ogv', 'OggS', 'video/ogg'],
    ['a.ts', `G${'\0'.repeat(187)}G`, 'video/mp2t'],
    ['a.mp3', 'ID3\x04', 'audio/mpeg'],
    ['a.mp3', '\xff\xfb\x90', 'audio/mpeg'],
    ['a.wav', 'RIFF\x10\0\0\0WAVEfmt ', 'audio/wav'],
    ['a.flac', 'fLaC', 'audio/flac'],
    ['a.woff', 'wOFF', 'font/woff'],
    ['a.woff2', 'wOF2', 'font/woff2'],
    ['a.ttf', '\0\x01\0\0', 'font/ttf'],
    ['a.otf', 'OTTO', 'font/otf'],
    ['a.pdf', '%PDF-1.7', 'application/pdf'],
    ['a.vtt', '\xef\xbb\xbfWEBVTT\n\n', 'text/vtt'],
    ['a.vtt', 'WEBVTT', 'text/vtt'],
    ['a.srt', '1\r\n00:00:01,000 --> 00:00:02,000\r\nHi', 'application/x-subrip'],
    ['a.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml'],
    ['a.svg', '\xef\xbb\xbf<?xml version="1.0"?>\n<!-- <html> -->\n<svg>', 'image/svg+xml'],
    ['a.svg', '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x" [ <!ENTITY a "b"> ]><svg\n>', 'image/svg+xml'],
  ])('%s that begins with %j is %s', (name, head, type) => {
    expect(judgeType(name, bytes(head))).toBe(type);
  });

  it.each([
    ['a.html', '<html>'],
    ['a.js', 'alert(1)'],
    ['a', '\x89PNG\r\n\x1a\n'],
    ['a.jpg', '\x89PNG\r\n\x1a\n'],
    ['a.png', '<html>'],
    ['a.png', ''],
    ['a.webp', 'RIFF\x10\0\0\0WAVEfmt '],
    ['a.mp4', '\0\0\0\x1cftypavif'],
    ['a.avif', '\0\0\0\x18ftypisom'],
    ['a.vtt', 'WEBVTTX'],
    ['a.srt', '12345'],
    ['a.svg', '<html><svg>'],
    ['a.svg', '<!-- --><html>'],
    ['a.svg', '<!DOCTYPE html><svg>'],
    ['a.svg', '<svgx>'],
    ['a.pdf', ' %PDF-'],
    ['a.m3u8', '#EXTM3U'],
    ['a.m3u8', ''],
  ])('%s that begins with %j is not vouched for', (name, head) => {
    expect(judgeType(name, bytes(head))).toBe('application/octet-stream');
  });

  it('is not held up by text that was made to be ambiguous', () => {
    const heads = ['<!---->', '<??>', '<!DOCTYPE svg>', ' ', '<!--', '\n'].map((part) => part.repeat(4096));
    for (const head of heads) expect(judgeType('a.svg', bytes(head))).toBe('application/octet-stream');
  });
});
