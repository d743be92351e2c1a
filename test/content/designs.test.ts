/** Designs and templates with a form: what the schema may hold, how values are checked, and what pages get. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { validateContent } from '../../service/content/validate.ts';
import type { DesignList } from '../../service/contract/console/designs.ts';
import { designs } from '../../service/contract/designs.ts';
import { fieldSchema } from '../../service/contract/field-schema.ts';
import { withDefaults } from '../../service/domain/form-values.ts';
import { templateFilters } from '../../service/domain/template.ts';
import { healthOf, patience, payloadOf } from '../support/observe.ts';
import { shareTestService } from '../support/service.ts';
import { hello, lobbyWith } from './samples.ts';

const issuesOf = (content: unknown): Record<string, string> => {
  const reading = validateContent(content);
  return reading.ok ? {} : Object.fromEntries(reading.issues.map(({ path, message }) => [path, message]));
};
const menu = (content: object) => lobbyWith([{ kind: 'template', title: 'M', template_id: 'design:menu', content }]);
const at = 'playlists[0].slides[0].content.';
const template = (schema: object, slides: object[] = [hello]) =>
  lobbyWith(slides, { templates: [{ id: 'own', html: '<p>{{ headline }}</p>', schema }] });
const field = (one: object) => ({ type: 'object', properties: { headline: one } });

describe('each design', () => {
  const folder = join(import.meta.dirname, '../../resources/designs');

  test.each(designs.map((each) => [each.id, each] as const))('%s keeps its own rules', (id, design) => {
    expect(fieldSchema.safeParse(design.schema).error).toBeUndefined();
    expect(issuesOf(lobbyWith([{ kind: 'template', template_id: id, content: design.example }]))).toEqual({});
    for (const name of Object.keys(design.example)) expect(Object.keys(design.schema.properties)).toContain(name);
    expect(design.html).not.toMatch(/<script|https?:\/\/(?!www\.w3)|\son[a-z]+=|@import|javascript:/i);
    expect(readdirSync(join(folder, id.replace('design:', ''))).sort()).toEqual([
      'design.json',
      'preview.webp',
      'style.css',
      'template.liquid',
    ]);
    const named = [
      ...readFileSync(join(folder, id.replace('design:', ''), 'style.css'), 'utf8').matchAll(/url\(([^)]*)\)/g),
    ];
    expect(named.filter(([, url = '']) => !/^["']?\/media\//.test(url))).toEqual([]);
    expect(templateFilters.length).toBeGreaterThan(0);
  });
});

describe('the schema of a form', () => {
  test.each<[object, string, RegExp]>([
    [
      field({ type: 'string', pattern: '(a+)+$' }),
      'templates[0].schema.properties.headline',
      /"pattern" is not known here/,
    ],
    [field({ type: 'integer' }), 'templates[0].schema.properties.headline.type', /./],
    [field({ type: 'string', format: 'uri' }), 'templates[0].schema.properties.headline.format', /./],
    [field({ type: 'object', properties: {} }), 'templates[0].schema.properties.headline.type', /./],
    [
      field({ type: 'array', items: { type: 'object', properties: { a: { type: 'array', items: {} } } } }),
      'templates[0].schema.properties.headline.items.properties.a.type',
      /./,
    ],
    [
      field({ type: 'array', maxItems: 101, items: { type: 'object', properties: {} } }),
      'templates[0].schema.properties.headline.maxItems',
      /100/,
    ],
    [{ type: 'object', properties: {}, required: [] }, 'templates[0].schema', /"required" is not known here/],
    [{ properties: {}, $ref: '#' }, 'templates[0].schema', /"\$ref" is not known here/],
    [
      field({ type: 'number', minimum: 5, default: 1 }),
      'templates[0].schema.properties.headline.default',
      /at least 5/,
    ],
  ])('refuses %o by name', (schema, path, message) => {
    expect(issuesOf(template(schema))).toEqual({ [path]: expect.stringMatching(message) });
  });

  test('may name a field as what every object inherits', () => {
    const form = { type: 'object', properties: { constructor: { type: 'string', default: 'Ann' } } } as const;
    const slide = { kind: 'template', title: 'M', template_id: 'own' };
    expect(issuesOf(template(form, [{ ...slide, content: {} }, slide]))).toEqual({});
    expect(withDefaults(form, {})).toEqual({ constructor: 'Ann' });
  });

  test('is not needed', () => {
    expect(issuesOf(lobbyWith([hello], { templates: [{ id: 'own', html: 'x' }] }))).toEqual({});
    expect(issuesOf(lobbyWith([hello], { templates: [{ id: 'design:own', html: 'x' }] }))).toEqual({
      'templates[0].id': expect.stringContaining('design:'),
    });
  });
});

describe('the values of a form', () => {
  test.each<[object, string, RegExp]>([
    [{ heading: 5 }, 'heading', /"M": it must be a text/],
    [{ heading: 'x'.repeat(81) }, 'heading', /at most 80 characters/],
    [{ currency: 'XXX' }, 'currency', /"EUR" or/],
    [{ picture: 'javascript:alert(1)' }, 'picture', /http/],
    [{ items: {} }, 'items', /list/],
    [{ items: ['Soup'] }, 'items[0]', /object/],
    [{ items: [{ name: 'Soup', price: '5' }] }, 'items[0].price', /number/],
    [{ items: [{ price: -1 }] }, 'items[0].price', /at least 0/],
    [{ items: Array.from({ length: 25 }, () => ({})) }, 'items', /at most 24/],
  ])('are errors where they are %o', (content, path, message) => {
    expect(issuesOf(menu(content))).toEqual({ [at + path]: expect.stringMatching(message) });
  });

  test('may be absent, null and empty', () => {
    expect(issuesOf(menu({}))).toEqual({});
    expect(issuesOf(menu({ heading: null, picture: '', items: [] }))).toEqual({});
  });

  test('are checked by the form of a house, too', () => {
    const schema = {
      type: 'object',
      properties: { day: { type: 'string', format: 'date' }, ink: { type: 'string', format: 'color' } },
    };
    const slide = (content: object) => template(schema, [{ kind: 'template', template_id: 'own', content }]);
    expect(issuesOf(slide({ day: '2026-02-28', ink: 'rebeccapurple' }))).toEqual({});
    expect(Object.keys(issuesOf(slide({ day: '2026-02-30', ink: 'nonsense' })))).toEqual([`${at}day`, `${at}ink`]);
  });

  test('of an unknown design are an error', () => {
    expect(issuesOf(lobbyWith([{ kind: 'template', template_id: 'design:nothing' }]))).toEqual({
      'playlists[0].slides[0].template_id': expect.stringContaining('there is no design with the id "design:nothing"'),
    });
  });
});

describe('through the front door', { shuffle: false }, () => {
  const service = shareTestService({ content: menu({ heading: 'Lunch', items: [{ name: 'Soup', price: 5 }] }) });

  test('the designs are listed', async () => {
    const { designs: listed } = (await (await service().get('/console/api/designs')).json()) as DesignList;
    expect(listed).toEqual(designs);
  });

  test('a slide has its design inside, and the defaults of its form', async () => {
    const [slide] = (await payloadOf(service())).slides;
    expect(slide?.template).toMatchObject({ id: 'design:menu', name: 'Menu' });
    expect(slide?.template?.html).toMatch(/^<style>/);
    expect(slide?.content).toEqual({ heading: 'Lunch', currency: 'EUR', items: [{ name: 'Soup', price: 5 }] });
    expect((await healthOf(service())).content.warnings).toEqual([]);
  });

  test('media in the lists of a form are media of the content', async () => {
    const pictures = [{ picture: '/media/absent.jpg', caption: 'A' }];
    service().writeContent(
      lobbyWith([{ id: 'g', kind: 'template', template_id: 'design:gallery', content: { pictures } }]),
    );
    await expect
      .poll(async () => JSON.stringify(await (await service().get('/healthz')).json()), patience)
      .toContain('playlists[0].slides[0].content.pictures[0].picture');
  });

  test('a record that there is not, and a field that a design lacks, are warnings; a template may use its own', async () => {
    const calendars = [{ id: 'oak', url: 'http://127.0.0.1:9/oak.ics' }];
    const form = (template_id: string, content: object) => ({ kind: 'template', title: 'S', template_id, content });
    const properties = { source: { type: 'string' } };
    const html = '{{ sources[source].data }}{{ motto }}';
    const content = lobbyWith(
      [
        form('design:room', { room: 'Oak', calendar: 'oakk', tkaen: 'x', when_old: 'skip' }),
        form('design:room', { room: 'Oak', calendar: 'oak' }),
        form('design:menu', { items: [{ name: 'Soup', prize: 5 }] }),
        form('own', { source: 'weather', motto: 'Well', more: 1 }),
      ],
      { calendars, templates: [{ id: 'own', html, schema: { type: 'object', properties } }] },
    );
    const check = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(content) };
    const answer = (await (await service().get('/console/api/content/check', check)).json()) as {
      warnings: { path: string; message: string }[];
    };
    const slide = (index: number, path: string): string => `playlists[0].slides[${index}].content.${path}`;
    expect(answer.warnings).toEqual([
      {
        path: slide(0, 'calendar'),
        message: '"S": it names the calendar with the id "oakk", which does not exist; did you mean "oak"?',
      },
      { path: slide(0, 'tkaen'), message: '"S": "tkaen" is not known here; did you mean "taken"?' },
      { path: slide(2, 'items[0].prize'), message: '"S": "prize" is not known here; did you mean "price"?' },
      { path: slide(3, 'source'), message: '"S": it names the API source with the id "weather", which does not exist' },
      { path: slide(3, 'more'), message: '"S": "more" is not known here' },
    ]);
  });
});
