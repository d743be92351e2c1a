/**
 * Each design on displays of four sizes: everything that it says is inside of the picture, also if it is twice as long. With
 * house styles and from right to left in the soak, which writes pictures to the folder SIGNAGE_TEST_PICTURES if it is set.
 */
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { designs } from '../../../service/contract/designs.ts';
import type { FieldSchema, FormField } from '../../../service/contract/field-schema.ts';
import { nameOf, serveExamples } from '../../pictures/designs.ts';
import { describeBrowser } from '../../support/browser.ts';
import { payloadOf } from '../../support/observe.ts';
import { openPlayer, patience, sharePlayer } from '../../support/player.ts';
import { startTestService } from '../../support/service.ts';
import { repeats } from '../../support/soak.ts';

const sizes = [
  { width: 800, height: 480 },
  { width: 1080, height: 1920 },
  { width: 3840, height: 600 },
  { width: 1920, height: 1080 },
].slice(0, repeats(2, 4));

type Change = (text: string) => string;
const twice: Change = (text) => `${text} ${text}`;
/** As long in Arabic. */
const arabic: Change = (text) => 'قاعة البلوط في الطابق الأول، '.repeat(10).slice(0, Math.max(4, text.length)).trim();

const changed = (value: unknown, field: FormField | undefined, change: Change): unknown => {
  if (field?.type === 'array') {
    return (value as Record<string, unknown>[]).map((entry) =>
      Object.fromEntries(
        Object.entries(entry).map(([name, each]) => [name, changed(each, field.items.properties[name], change)]),
      ),
    );
  }
  if (field?.type !== 'string' || field.enum !== undefined || typeof value !== 'string') return value;
  const isText = field.format === undefined || field.format === 'markdown';
  return isText && !/^\d|^[a-z]+$/.test(value) ? change(value).slice(0, field.maxLength) : value;
};
const contentOf = ({ properties }: FieldSchema, example: object, change: Change): object =>
  Object.fromEntries(Object.entries(example).map(([name, value]) => [name, changed(value, properties[name], change)]));

/** What is not inside of the picture. */
const cutIn = (slide: Locator): Promise<string[]> =>
  slide.evaluate((element) => {
    const box = element.getBoundingClientRect();
    const all = [...(element.shadowRoot?.querySelectorAll('main :is(h1, p, b, span, li, blockquote, img)') ?? [])];
    return all
      .filter((each) => {
        const { left, top, right, bottom, width, height } = each.getBoundingClientRect();
        if (width === 0 || height === 0 || getComputedStyle(each).display === 'none') return false;
        return left < box.left - 1 || top < box.top - 1 || right > box.right + 1 || bottom > box.bottom + 1;
      })
      .map((each) => `${each.localName} ${each.textContent.trim().slice(0, 30)}`);
  });

const fonts = join(import.meta.dirname, '../../../node_modules/@fontsource-variable');
const fontFiles = {
  'fraunces.woff2': join(fonts, 'fraunces/files/fraunces-latin-opsz-normal.woff2'),
  'inter.woff2': join(fonts, 'inter/files/inter-latin-opsz-normal.woff2'),
};
const demo = join(import.meta.dirname, '../../../resources/demo/media');
const styles: Record<string, object> = {
  dark: {
    logo_url: '/media/demo-courtyard.jpg',
    fonts: { display: '/media/inter.woff2', text: '/media/fraunces.woff2' },
    colours: { background: '#101418', text: '#f2f2f2', accent: '#4db6ff' },
    corner: 64,
  },
  none: {},
  light: { colours: { background: '#ffffff', accent: '#b00000' }, corner: 0 },
  grey: { colours: { background: '#777777' }, corner: 32 },
  warm: {
    logo_url: '/media/demo-breakfast.jpg',
    fonts: { display: '/media/fraunces.woff2' },
    colours: { background: '#f6efe2', text: '#3b2a1a', accent: '#8a3b12' },
    corner: 8,
  },
};
const pictures = process.env['SIGNAGE_TEST_PICTURES'];

describeBrowser('designs', () => {
  const player = sharePlayer(sizes[0]);

  it.each(designs.map(({ id, schema, example }) => [id, schema, example] as const))(
    '%s fits displays of all sizes, with texts twice as long',
    async (id, schema, example) => {
      const content = contentOf(schema, example, twice);
      const page = await player().show([{ kind: 'template', template_id: id, content, duration_seconds: 3600 }]);
      const slide = page.locator('.slide-template[data-state="playing"]');
      await slide.waitFor();
      for (const size of sizes) {
        await page.setViewportSize(size);
        const message = `${id} at ${size.width}`;
        await expect.poll(() => cutIn(slide), { timeout: 10_000, interval: 100, message }).toEqual([]);
      }
    },
  );

  it.each(Object.entries(styles).slice(0, repeats(1, 5)))(
    'in the house style %s fit displays of all sizes, with their data, from left to right and from right to left',
    async (name, style) => {
      const examples = await serveExamples((file) => readFileSync(join(demo, file)));
      onTestFinished(examples.close);
      const some = designs.slice(0, repeats(1, designs.length));
      const directions = Object.entries({ ltr: (text: string) => text, rtl: arabic });
      const all = some.flatMap((design) =>
        directions.map(([direction, change]) => ({
          slug: `${nameOf(design)}-${direction}`,
          slide: {
            kind: 'template',
            template_id: design.id,
            content: contentOf(design.schema, design.example, change),
          },
        })),
      );
      const { apiSources, calendars, rssFeeds } = examples.content;
      const service = await startTestService({
        content: {
          screens: all.map(({ slug }) => ({ name: slug, slug, playlist_id: slug })),
          playlists: all.map(({ slug, slide }) => ({ id: slug, slides: [{ ...slide, duration_seconds: 3600 }] })),
          apiSources,
          calendars,
          rssFeeds,
          style,
        },
      });
      for (const [file, source] of Object.entries(fontFiles)) cpSync(source, join(service.dataDir, 'uploads', file));
      cpSync(demo, join(service.dataDir, 'uploads'), { recursive: true });
      if (pictures !== undefined) mkdirSync(pictures, { recursive: true });
      for (const { slug } of all) {
        const isFetched = async (): Promise<boolean> => {
          const { rssFeeds: feeds, apiSources: sources, calendars: own = [] } = await payloadOf(service, slug);
          return [...feeds, ...sources, ...own].every(({ status }) => status === 'ok');
        };
        await expect.poll(isFetched, patience).toBe(true);
        const page = await openPlayer(service, slug, sizes[0]);
        const slide = page.locator('.slide-template[data-state="playing"]');
        await slide.waitFor();
        expect(await slide.evaluate((element) => element.shadowRoot?.querySelector('main')?.dir)).toBe(slug.slice(-3));
        for (const size of sizes) {
          await page.setViewportSize(size);
          const message = `${slug} in ${name} at ${size.width}`;
          await expect.poll(() => cutIn(slide), { timeout: 10_000, interval: 100, message }).toEqual([]);
          if (pictures !== undefined)
            await page.screenshot({ path: join(pictures, `${name}-${slug}-${size.width}x${size.height}.png`) });
        }
        await page.close();
      }
    },
  );
});
