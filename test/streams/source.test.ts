import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CodedError } from '../../service/contract/errors.ts';
import { parseSource, redact } from '../../service/streams/source.ts';
import { noSalt } from './salt.ts';

const urlOf = (raw: string) => parseSource(raw, false, noSalt).url;

describe('a source', () => {
  it.each([
    ['rtmp://Example.COM/live/a', 'rtmp://example.com/live/a'],
    ['RTMP://example.com:1935/live/a', 'rtmp://example.com/live/a'],
    ['rtmp://example.com:01936/live/a', 'rtmp://example.com:1936/live/a'],
    ['rtmp://example.com:80/live/a', 'rtmp://example.com:80/live/a'],
    ['rtmps://example.com:443/live/a', 'rtmps://example.com/live/a'],
    ['rtsp://0x7f.1:554/a', 'rtsp://127.0.0.1/a'],
    ['rtsps://[0:0::1]:322/a?b=c', 'rtsps://[::1]/a?b=c'],
    ['rtmp://bücher.example/live', 'rtmp://xn--bcher-kva.example/live'],
    ['rtsp://user:p%40ss@example.com/live/../a', 'rtsp://user:p%40ss@example.com/a'],
    ['rtsp://user@example.com/büro#part', 'rtsp://user@example.com/b%C3%BCro'],
    ['rtmp://user:p%40ss@Example.com/live/../a', 'rtmp://user:p%40ss@example.com/live/../a'],
    ['rtmp://user@Example.com/live/key#2', 'rtmp://user@example.com/live/key#2'],
    ['rtmps://Example.com:443/live/büro{1}?a="ä"#b?c', 'rtmps://example.com/live/büro{1}?a="ä"#b?c'],
    ['rtmp://Example.com#2/a@b:c', 'rtmp://example.com#2/a@b:c'],
    ['srt://camera:9000?streamid=a', 'srt://camera:9000?streamid=a'],
    ['srt://Camera:9000?streamid=#!::r=live/key,m=request', 'srt://camera:9000?streamid=#!::r=live/key,m=request'],
    ['srt://camera:9000?streamid=%23!::r=büro', 'srt://camera:9000?streamid=%23!::r=büro'],
    ['srt://camera:9000?mode=caller', 'srt://camera:9000?mode=caller'],
  ])('%s is %s', (raw, url) => {
    expect(urlOf(raw)).toBe(url);
  });

  it.each([
    '',
    'rtmp',
    'rtmp:',
    'rtmp:example.com/live',
    'rtmp:/example.com/live',
    'rtmp://',
    'rtmp:///live',
    'rtmp://:1935/live',
    'rtmp://user@/live',
    'rtmp://example.com:99999/live',
    'rtmp://exa mple.com/live',
    'rtmp://example.com/live live=1',
    ' rtmp://example.com/live',
    'rtmp://example.com/live\n',
    'rt\tmp://example.com/live',
    'rtmp://example.com/\u0000',
    'rtmp://example.com/\u00a0',
    'rtmp://example.com/\ud800',
    'rtmp://example.com\\@evil/live',
    'rtmp://a%2fb/live',
    `rtmp://example.com/${'a'.repeat(2048)}`,
    '-rtmp://example.com/live',
    '-i',
    '--help',
    'http://example.com/live.m3u8',
    'https://example.com/live.m3u8',
    'rtmpt://example.com/live',
    'rtmpe://example.com/live',
    'file:///etc/passwd',
    '/etc/passwd',
    'concat:rtmp://a/b|rtmp://c/d',
    'pipe:0',
    'srt://camera',
    'srt://:9000',
    'srt://camera:9000?mode=listener',
    'srt://camera:9000?mode=caller&mode=rendezvous',
    'srt://camera:9000?a=b&mode=rendezvous',
    'srt://camera:9000?streamid=#a&mode=listener',
    'srt://camera:9000#a?mode=listener',
  ])('%j is refused', (raw) => {
    expect(() => parseSource(raw, false, noSalt)).toThrow(
      expect.objectContaining({ code: 'invalid_field', field: 'source', status: 400 }),
    );
  });

  it('has one key for one stream and audio choice', () => {
    const key = (raw: string, silent: boolean, salt = Buffer.from('a')) => parseSource(raw, silent, salt).key;
    expect(key('rtmp://A:1935/b', false)).toBe(key('rtmp://a/b', false));
    expect(key('rtmp://a/b', false)).toMatch(/^[0-9a-f]{16}$/);
    const keys = [
      key('rtmp://a/b', false),
      key('rtmp://a/b', true),
      key('rtmp://a/c', false),
      key('rtmps://a/b', false),
      key('rtmp://a/b#2', false),
    ];
    expect(new Set(keys).size).toBe(5);
    // With a password in it no other box makes the same one.
    const [own, other] = [Buffer.from('a'), Buffer.from('b')];
    expect(key('rtmp://a/b', false, own)).toBe(key('rtmp://a/b', false, other));
    expect(key('rtmp://u:p@a/b', false, own)).toBe(key('rtmp://u:p@A:1935/b', false, own));
    expect(key('rtmp://u:p@a/b', false, own)).not.toBe(key('rtmp://u:p@a/b', false, other));
  });

  it('is refused, or becomes a URL that stays as it is, whatever the text', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.webUrl().map((url) => url.replace(/^https?/, 'rtmp')),
      fc.tuple(fc.constantFrom('rtmp://', 'rtsp://', 'srt://'), fc.string()).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, (raw) => {
        try {
          const { url, display } = parseSource(raw, false, noSalt);
          expect(url).toMatch(/^(?:rtmps?|rtsps?|srt):\/\/[^\s\\]+$/);
          expect(urlOf(url)).toBe(url);
          expect(url.startsWith(display) || url.includes('@')).toBe(true);
        } catch (error) {
          if (!(error instanceof CodedError)) throw error;
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('what may be shown of a source', () => {
  it.each([
    ['rtmp://user:secret@example.com/live/a?token=hush', 'rtmp://example.com'],
    ['srt://camera:9000?passphrase=0123456789', 'srt://camera:9000'],
  ])('of %s is %s', (raw, display) => {
    expect(parseSource(raw, false, noSalt).display).toBe(display);
  });

  it.each([
    'rtmp://user:secret@example.com/live/a?token=hush: Connection refused',
    'Server error: stream a?token=hush is not there',
    "Input #0, flv, from 'rtmp://user:secret@example.com:1935/live/a?token=hush':",
    'password secret, token hush',
  ])('is all that remains in: %s', (line) => {
    const clean = redact(line, parseSource('rtmp://user:secret@example.com/live/a?token=hush', false, noSalt));
    expect(clean).not.toMatch(/secret|hush/);
  });

  it.each([
    ['rtmp://user:secret@example.com/live/hush#müde', 'Sending play command for hush#müde of secret', ' of ***'],
    ['rtmp://user:secret@example.com/live/a#b?token=hush{1}@x', 'no stream a#b?token=hush{1}@x, secret', '@x, ***'],
    [
      'rtmp://example.com#secret/hush',
      'rtmp://example.com#secret/hush: Connection refused',
      'rtmp://example.com: Conn',
    ],
    ['srt://camera:9000?streamid=#!::u=secret,r=hush&passphrase=hush#hush', 'secret,r and hush#hush', '*** and ***'],
    ['srt://camera:9000?streamid=#!::u=secret,r=hush', 'srt://camera:9000?streamid=#!::u=secret,r=hush: I/O', ': I/O'],
  ])('holds for what stands in %s as it is written', (raw, line, rest) => {
    const clean = redact(line, parseSource(raw, false, noSalt));
    expect(clean).not.toMatch(/secret|hush|müde/);
    expect(clean).toContain(rest);
  });

  it('holds for credentials that are percent-encoded', () => {
    const source = parseSource('rtsp://user:p%40ss%3Aword@example.com/a', false, noSalt);
    expect(redact('p@ss:word and p%40ss%3Aword', source)).toBe('*** and ***');
  });

  it('holds for any password in any line', () => {
    const word = fc.stringMatching(/^[a-zA-Z0-9]{3,20}$/);
    fc.assert(
      fc.property(word, fc.string(), fc.string(), (password, before, after) => {
        const source = parseSource(`rtmp://someone:${password}@192.0.2.1/x`, false, noSalt);
        expect(redact(`${before}${password}${after}`, source)).not.toContain(password);
      }),
    );
  });
});
