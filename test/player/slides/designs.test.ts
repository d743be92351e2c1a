/** Each design on displays of four sizes: everything that it says is inside of the picture, also if it is twice as long. */
import { expect, it } from 'vitest';
import { designs } from '../../../service/contract/designs.ts';
import type { FormField } from '../../../service/contract/field-schema.ts';
import { describeBrowser } from '../../support/browser.ts';
import { openPlayer } from '../../support/player.ts';
import { startTestService } from '../../support/service.ts';

const sizes = [
  { width: 1920, height: 1080 },
  { width: 1080, height: 1920 },
  { width: 3840, height: 600 },
  { width: 800, height: 480 },
];

const twice = (value: unknown, field: FormField | undefined): unknown => {
  if (field?.type === 'array') {
    return (value as Record<string, unknown>[]).map((entry) =>
      Object.fromEntries(
        Object.entries(entry).map(([name, each]) => [name, twice(each, field.items.properties[name])]),
      ),
    );
  }
  if (field?.type !== 'string' || field.enum !== undefined || typeof value !== 'string') return value;
  const isText = field.format === undefined || field.format === 'markdown';
  return isText && !/^\d|^[a-z]+$/.test(value) ? `${value} ${value}`.slice(0, field.maxLength) : value;
};

describeBrowser('designs', () => {
  it.each(designs.map(({ id, schema, example }) => [id, schema, example] as const))(
    '%s fits displays of all sizes, with texts twice as long',
    async (id, schema, example) => {
      const content = Object.fromEntries(
        Object.entries(example).map(([name, value]) => [name, twice(value, schema.properties[name])]),
      );
      const service = await startTestService({
        content: {
          screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
          playlists: [{ id: 'main', slides: [{ kind: 'template', template_id: id, content, duration_seconds: 3600 }] }],
        },
      });
      const page = await openPlayer(service, 'lobby', sizes[0]);
      const slide = page.locator('.slide-template[data-state="playing"]');
      await slide.waitFor();
      for (const size of sizes) {
        await page.setViewportSize(size);
        const cut = (): Promise<string[]> =>
          slide.evaluate((element) => {
            const box = element.getBoundingClientRect();
            const all = [
              ...(element.shadowRoot?.querySelectorAll('main :is(h1, p, b, span, li, blockquote, img)') ?? []),
            ];
            return all
              .filter((each) => {
                const { left, top, right, bottom, width, height } = each.getBoundingClientRect();
                if (width === 0 || height === 0 || getComputedStyle(each).display === 'none') return false;
                return left < box.left - 1 || top < box.top - 1 || right > box.right + 1 || bottom > box.bottom + 1;
              })
              .map((each) => `${each.localName} ${each.textContent.trim().slice(0, 30)}`);
          });
        await expect.poll(cut, { timeout: 10_000, interval: 100, message: `${id} at ${size.width}` }).toEqual([]);
      }
    },
  );
});
