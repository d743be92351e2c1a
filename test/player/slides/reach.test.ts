/** What others write into a template reaches nothing by it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createReach } from '../../../renderer/player/slides/reach.ts';
import type { PlaylistPayload } from '../../../service/contract/playlist.ts';
import { describeBrowser, launchBrowser } from '../../support/browser.ts';
import { lobby } from '../../support/player.ts';
import { startTestService } from '../../support/service.ts';

/** A machine of the site; says what it was asked for. */
const startDevice = async (): Promise<{ url: string; asked: string[] }> => {
  const asked: string[] = [];
  const pixel = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.setHeader('Content-Type', 'image/png').end(pixel);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
};

/** Every way in which a template can pass on what an API says; `data.u` is an address, `data.html` and `data.css` more. */
const template = (device: string): string => `
  <style>.a { background: url({{ sources.far.data.u }}) } {{ sources.far.data.css | raw }}</style>
  <img class="own" src="${device}/own.png"><img class="composed" src="${device}/icons/{{ sources.far.data.icon }}.png">
  <img src="{{ sources.far.data.u }}"><img srcset="{{ sources.far.data.u }} 2x"><img src={{ sources.far.data.u }}>
  <picture><source srcset="{{ sources.far.data.u }}"><img alt=""></picture>
  <div class="a" style="background: url('{{ sources.far.data.u }}')">a</div>
  <div style="background-image: image-set('{{ sources.far.data.u }}' 1x)">b</div>
  <table background="{{ sources.far.data.u }}"><tr><td background="{{ sources.far.data.u }}">c</table>
  <svg><image href="{{ sources.far.data.u }}"></image><rect fill="url({{ sources.far.data.u }})"></rect></svg>
  <p>{{ sources.far.data.text }}</p>{{ sources.far.data.html | raw }}<p class="end">{{ now | date: "%s" }}</p>`;

const dataFor = (device: string) => ({
  u: `${device}/evil?u`,
  icon: 'rain',
  text: `see url(${device}/evil?text) and url('${device}/evil?quoted')`,
  css: [
    `.b { background: url("${device}/evil?css1") }`,
    `.b { background: \\75rl("${device}/evil?css2") }`,
    `.b { --x: \\75 rl(${device}/evil?css3); background: var(--x) }`,
    `.b { --y: "${device}/evil?css4"; background: image-set(var(--y) 1x) }`,
    `.b { background: url("${device.replace('http', 'ht\\a tp')}/evil?css5") }`,
    `.b { background: url(${device.replace('http:', '')}/evil?css6) }`,
    `.b { background: url("/api/screens/lobby/playlist?css7") }`,
    `@font-face { font-family: evil; src: url(${device}/evil?css8) } .b { font-family: evil }`,
    `@import "${device}/evil?css9";`,
    `.b { list-style-image: url(${device}/evil?css10); cursor: url(${device}/evil?css11), auto }`,
    `.b::after { content: url(${device}/evil?css12) }`,
    `.b { filter: url(${device}/evil?css13#f); mask: url(${device}/evil?css14) }`,
  ].join('\n'),
  html: [
    `<div class="b">b</div><img src="${device}/evil?html1"><img src="/api/screens/lobby/playlist?html2">`,
    `<img src="${device.replace('http:', '')}/evil?html3"><img src="http:\\\\${device.slice(7)}/evil?html4">`,
    `<img src="ht\ntp://${device.slice(7)}/evil?html5"><link rel=preload as=image href="${device}/evil?html6">`,
    `<svg><filter><feImage href="${device}/evil?html7"></feImage></filter><use href="${device}/evil?html8#a"></use></svg>`,
    `<style>.b { border-image: url(${device}/evil?html9) }</style><li style="background:url(&quot;${device}/evil?html10">`,
    `<img src="/copies?url=${device}/evil?html11"><img src="${device}/own.png/../evil?html12">`,
  ].join(''),
});

/** Opens the player with data from an API that is far away. */
const openWith = async (device: string): Promise<{ page: Page; asked: string[] }> => {
  const slide = { id: 'a', kind: 'template', template_id: 't', duration_seconds: 3600 };
  const service = await startTestService({
    content: lobby([slide], { templates: [{ id: 't', html: template(device) }] }),
  });
  const context = await (await launchBrowser()).newContext({ viewport: { width: 640, height: 360 } });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.route('**/playlist', async (route) => {
    const response = await route.fetch();
    if (response.status() !== 200) return route.fulfill({ response });
    const payload = (await response.json()) as PlaylistPayload;
    const source = { id: 'far', name: 'Far', url: 'https://far.example/', refresh_seconds: 60, status: 'ok' as const };
    payload.apiSources = [{ ...source, fetched_at: null, data: dataFor(device) }];
    await route.fulfill({ response, json: payload });
  });
  await page.goto(`${service.url}/screen/lobby`);
  await page.locator('.slide-template[data-state="playing"]').waitFor();
  // The time is told again, and the markup with it.
  const time = await page.locator('.end').textContent();
  await expect.poll(() => page.locator('.end').textContent(), { timeout: 20_000 }).not.toBe(time);
  return { page, asked };
};

describeBrowser('a template with data from far away', { timeout: 60_000 }, () => {
  it('loads what its author names, and nothing that the data names, by any element, style or text', async () => {
    const device = await startDevice();
    const { page, asked } = await openWith(device.url);
    expect([...new Set(device.asked)].toSorted()).toEqual(['/icons/rain.png', '/own.png']);
    expect(asked.filter((url) => /(?:css|html)\d+$/.test(url) && !url.includes('/copies?'))).toEqual([]);
    expect(await page.locator('.own').evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1);
    expect(await page.locator('p').first().textContent()).toContain('see url(');
  });
});

describe('a template may load', () => {
  const base = 'http://127.0.0.1:8080/screen/lobby';
  const written = [
    { html: '<img src="https://cdn.example/icons/{{ x }}.png"><img src="//wide.example/a.png">' },
    'http://10.0.0.{{ y }}/a https://{{ z }}/b (http://192.168.1.9/logo.png) https://a.example/b?c=1&amp;d=2',
  ];
  const { mayLoad } = createReach(written, base);

  it.each([
    'https://cdn.example/icons/rain.png',
    'https://CDN.example/icons/../icons/sun.png',
    'http://wide.example/a.png',
    'http://192.168.1.9/logo.png?v=2',
    'https://a.example/b?c=1&d=2',
    '/media/a.png',
    'data:image/png;base64,AA',
    'blob:http://127.0.0.1:8080/1',
    '#gradient',
  ])('%s', (address) => expect(mayLoad(address)).toBe(true));

  it.each([
    'https://cdn.example/reboot',
    'https://cdn.example/icons/../reboot',
    'https://cdn.example.evil/icons/a.png',
    'http://10.0.0.1/a',
    'http://192.168.1.9/reboot',
    'http://192.168.1.1/',
    'http:\\\\192.168.1.1/',
    'ht\ntp://192.168.1.1/',
    '//192.168.1.1/',
    'https:192.168.1.1/',
    '/api/rtmp/session?source=rtmp://a/b',
    '../onboard?deviceId=a',
    '/media/../api/screens',
    'ftp://192.168.1.9/logo.png',
    'http://[',
  ])('not %j', (address) => expect(mayLoad(address)).toBe(false));
});
