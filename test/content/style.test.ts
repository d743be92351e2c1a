/** The house style in the file: what it may hold, what it warns about, and where it stands in the payload. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readFont } from '../../service/content/font-tables.ts';
import { validateContent } from '../../service/content/validate.ts';
import { contrastOf, paletteOf } from '../../service/domain/house-style.ts';
import { healthOf, patience, payloadOf } from '../support/observe.ts';
import { shareTestService, startTestService } from '../support/service.ts';
import { hello, lobbyWith } from './samples.ts';

const fonts = join(import.meta.dirname, '../../node_modules/@fontsource-variable/inter/files');
const woff2 = readFileSync(join(fonts, 'inter-latin-opsz-normal.woff2'));
const cyrillic = readFileSync(join(fonts, 'inter-cyrillic-opsz-normal.woff2'));

/** A TrueType file with the tables, of which the outlines are empty. */
const trueType = (tables: Record<string, Buffer>): Buffer => {
  const entries = Object.entries(tables);
  const head = Buffer.alloc(12 + entries.length * 16);
  head.writeUInt32BE(0x00010000, 0);
  head.writeUInt16BE(entries.length, 4);
  let offset = head.length;
  entries.forEach(([tag, data], index) => {
    head.write(tag, 12 + index * 16, 'latin1');
    head.writeUInt32BE(offset, 12 + index * 16 + 8);
    head.writeUInt32BE(data.length, 12 + index * 16 + 12);
    offset += data.length;
  });
  return Buffer.concat([head, ...entries.map(([, data]) => data)]);
};
const headTable = Buffer.alloc(54);
headTable.writeUInt32BE(0x5f0f3cf5, 12);
/** Format 12, one group of all characters of the basic plane. */
const cmap = Buffer.alloc(12 + 16 + 12);
cmap.writeUInt16BE(1, 2);
cmap.writeUInt32BE(12, 8);
cmap.writeUInt16BE(12, 12);
cmap.writeUInt32BE(1, 24);
cmap.writeUInt32BE(0x20, 28);
cmap.writeUInt32BE(0xffff, 32);
const whole = {
  cmap,
  head: headTable,
  hhea: Buffer.alloc(36),
  hmtx: Buffer.alloc(4),
  maxp: Buffer.alloc(6),
  glyf: cmap,
};
const without = (table: keyof typeof whole) => {
  const { [table]: _, ...rest } = whole;
  return trueType(rest);
};

describe('the tables of a font', () => {
  test('are those of a woff2 and of a ttf', async () => {
    const has = await readFont(woff2);
    expect([...'Aß€漢'].map(has)).toEqual([true, true, true, false]);
    expect((await readFont(trueType(whole)))('Ж')).toBe(true);
  });

  test.each<[string, Buffer, RegExp]>([
    ['nothing', Buffer.alloc(0), /neither/],
    ['a picture', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), /neither/],
    ['a cut woff2', woff2.subarray(0, 4000), /cut off/],
    [
      'a woff2 with its end overwritten',
      Buffer.concat([woff2.subarray(0, -4000), Buffer.alloc(4000)]),
      /unpacked|cut off|broken/,
    ],
    ['a ttf without characters', without('cmap'), /"cmap"/],
    ['a ttf without outlines', without('glyf'), /no outlines/],
    ['a ttf whose tables end behind it', trueType(whole).subarray(0, -10), /behind the file/],
    ['a ttf of one byte', Buffer.from([0, 1, 0, 0, 0]), /broken/],
    ['a font of more than 2 MiB', Buffer.concat([woff2, Buffer.alloc(2 ** 21)]), /larger than 2 MiB/],
  ])('are refused of %s', async (_, bytes, reason) => {
    await expect(readFont(bytes)).rejects.toThrow(reason);
  });

  test('fail in no other way, whatever a byte says', async () => {
    const file = Buffer.from(trueType(whole));
    for (let at = 4; at < file.length; at++) {
      const broken = Buffer.from(file);
      broken[at] = 0xff;
      await readFont(broken).then(
        () => {},
        (error: Error) => expect(error.message).toMatch(/^it/),
      );
    }
  });
});

describe('colours', () => {
  test('have the contrast of WCAG 2.2', () => {
    expect(contrastOf('#000000', '#ffffff')).toBe(21);
    expect(contrastOf('#767676', '#ffffff')).toBeCloseTo(4.54, 2);
  });

  test.each([{ background: '#ffffff' }, { background: '#101010' }, { text: '#ffffff' }, { text: '#202020' }])(
    'that are absent can be read on those that are there: %o',
    (colours) => {
      const { ground, ink } = paletteOf({ colours }) ?? { ground: '', ink: '' };
      expect(contrastOf(ground, ink)).toBeGreaterThan(4.5);
    },
  );
});

test('each colour, alone, gets others that can be read on it, on its shape too', () => {
  for (let level = 0; level < 256; level++) {
    const grey = `#${level.toString(16).padStart(2, '0').repeat(3)}`;
    for (const colours of [{ background: grey }, { text: grey }]) {
      const { ground, ink, form } = paletteOf({ colours }) ?? { ground: '', ink: '', form: '' };
      expect([grey, contrastOf(ground, ink) >= 4.5, contrastOf(form, ink) >= 4.5]).toEqual([grey, true, true]);
    }
  }
});

describe('a house style in the file', () => {
  const style = {
    logo_url: '/media/l.png',
    fonts: { display: '/media/d.woff2' },
    colours: { accent: '#B00000' },
    corner: 12,
  };

  test.each<[object, string]>([
    [{ colours: { text: 'red' } }, 'style.colours.text'],
    [{ colours: { text: '#12345' } }, 'style.colours.text'],
    [{ fonts: { text: '/media/a.otf' } }, 'style.fonts.text'],
    [{ fonts: { text: 'https://example.com/a.woff2' } }, 'style.fonts.text'],
    [{ corner: 65 }, 'style.corner'],
    [{ logo_url: 'data:image/png;base64,AA' }, 'style.logo_url'],
    [{ color: {} }, 'style'],
  ])('is an error where it is %o', (given, path) => {
    const reading = validateContent({ ...lobbyWith([hello]), style: given });
    expect(reading.ok ? [] : reading.issues.map((issue) => issue.path)).toEqual([path]);
  });

  const service = shareTestService({ content: lobbyWith([hello]) });

  test('stands in the payload as it is, with a revision of its own, and not where there is none', async () => {
    const service = await startTestService({ content: lobbyWith([hello]) });
    const plain = await payloadOf(service, 'lobby');
    expect(Object.keys(plain)).not.toContain('style');
    service.writeContent({ ...lobbyWith([hello]), style });
    await expect.poll(async () => (await payloadOf(service, 'lobby')).style, patience).toEqual(style);
    expect((await payloadOf(service, 'lobby')).revision).not.toBe(plain.revision);
  });

  test('warns about its colours even where fifty slides have mistakes', async () => {
    const slides = Array.from({ length: 60 }, (_, n) => ({ ...hello, id: `s${n}`, media_url: '/media/a.png' }));
    const service = await startTestService({
      content: lobbyWith(slides, { style: { colours: { background: '#ffffff', text: '#999999' } } }),
    });
    const paths = async () => (await healthOf(service)).content.warnings.map(({ path }) => path);
    // Later it is missed among the media, too.
    await expect.poll(async () => (await paths()).length, patience).toBeGreaterThanOrEqual(50);
    expect(await paths()).toContain('style.colours.text');
  });

  test('warns about colours that cannot be read, and fonts that are none or lack letters', async () => {
    writeFileSync(join(service().dataDir, 'uploads', 'none.ttf'), 'no font');
    writeFileSync(join(service().dataDir, 'uploads', 'cyrillic.woff2'), cyrillic);
    const colours = { background: '#ffffff', text: '#cccccc', accent: '#b00000' };
    const given = { colours, fonts: { display: '/media/none.ttf', text: '/media/cyrillic.woff2' } };
    service().writeContent({ ...lobbyWith([hello]), style: given });
    const warnings = async () =>
      Object.fromEntries((await healthOf(service())).content.warnings.map(({ path, message }) => [path, message]));
    await expect.poll(warnings, patience).toMatchObject({
      'style.colours.text': expect.stringContaining('contrast'),
      'style.fonts.display': expect.stringMatching(/not used: it is neither a woff2 nor a ttf/),
      'style.fonts.text': expect.stringMatching(/no glyphs for BCD/),
    });
    expect(Object.keys(await warnings())).not.toContain('style.colours.accent');
    // What is not used is not sent.
    const sent = async () => (await payloadOf(service(), 'lobby')).style?.fonts;
    expect(await sent()).toEqual({ text: '/media/cyrillic.woff2' });
    // The font is repaired: the next look says so.
    writeFileSync(join(service().dataDir, 'uploads', 'none.ttf'), trueType(whole));
    await expect.poll(async () => Object.keys(await warnings()), patience).not.toContain('style.fonts.display');
    await expect.poll(sent, patience).toEqual(given.fonts);
  });

  test('is no part of the baseline', async () => {
    const baseline = await startTestService({
      content: { ...lobbyWith([hello]), style },
      env: { SIGNAGE_VARIANT: 'baseline' },
    });
    expect(Object.keys(await payloadOf(baseline, 'lobby'))).not.toContain('style');
  });
});
