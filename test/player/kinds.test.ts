import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { describeBrowser } from '../support/browser.ts';
import { putImage, putVideo } from '../support/media.ts';
import { lobby, patience, sharePlayer, waitForColour, waitForConnection } from '../support/player.ts';

const red = [220, 20, 20] as const;
const green = [20, 180, 20] as const;
const blue = [20, 20, 220] as const;

/** A web server of somebody else's. */
const startForeignSite = async (handler: Parameters<typeof createServer>[1]): Promise<string> => {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};

describeBrowser('in a real browser', () => {
  const player = sharePlayer({ width: 320, height: 180 }, { SIGNAGE_TIME_ZONE: 'Asia/Kathmandu' });

  it('a text slide shows its title and its body', async () => {
    const page = await player().show([{ kind: 'text', title: 'Hello', body: 'Good morning' }]);
    await page.getByText('Hello', { exact: true }).waitFor();
    await page.getByText('Good morning').waitFor();
  });

  it('HTML in a body is cleaned: marks stay, scripts do not run', async () => {
    const body = '<b>Bold</b><img src="x" onerror="document.title = `pwned`"><script>document.title = "pwned"</script>';
    const page = await player().show([{ kind: 'text', title: 'Hello', body }]);
    await page.locator('b', { hasText: 'Bold' }).waitFor();
    expect(await page.title()).not.toBe('pwned');
    expect(await page.locator('#stage script').count()).toBe(0);
  });

  it('an image slide fills the screen', async () => {
    const media_url = putImage(player().service.dataDir, 'red.png', red);
    await waitForColour(await player().show([{ kind: 'image', media_url }]), red);
  });

  it('a video slide plays, muted unless it says otherwise, for as long as it is', async () => {
    const { dataDir } = player().service;
    const slides = [
      { id: 'film', kind: 'video', media_url: putVideo(dataDir, 'green.mp4', green, 2) },
      { id: 'still', kind: 'image', media_url: putImage(dataDir, 'red.png', red), duration_seconds: 2 },
    ];
    const page = await player().show(slides);
    await waitForColour(page, green);
    expect(
      await page
        .locator('video')
        .first()
        .evaluate((video: HTMLVideoElement) => video.muted),
    ).toBe(true);
    await waitForColour(page, red);
    await waitForColour(page, green);
  });

  it('a web slide shows the page', async () => {
    const url = await startForeignSite((_, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end(`<body style="margin:0;background:rgb(${blue})">`);
    });
    await waitForColour(await player().show([{ kind: 'web', media_url: url }]), blue);
  });

  it('a template is rendered with content, slide, screen and the time in the zone of the site', async () => {
    const html = '<p>{{ content.offer }} at {{ screen.name }}, {{ slide.title }}, {{ now | date: "%H:%M" }}</p>';
    const slide = { kind: 'template', template_id: 't', title: 'Today', content: { offer: 'Soup <b>of the day</b>' } };
    const page = await player().show([slide], { templates: [{ id: 't', html }] });
    const time = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: 'Asia/Kathmandu' });
    await expect
      .poll(async () => await page.locator('p').first().textContent(), patience)
      .toBe(`Soup <b>of the day</b> at Lobby, Today, ${time.format()}`);
  });

  it('a template that never ends, includes files or runs scripts harms nobody and is skipped or cleaned', async () => {
    const slides = ['endless', 'include', 'script'].map((id) => ({
      id,
      kind: 'template',
      template_id: id,
      duration_seconds: 1,
    }));
    const { service, page } = player();
    const templates = [
      { id: 'endless', html: '{% for a in (1..100000000) %}{% for b in (1..100000000) %}x{% endfor %}{% endfor %}' },
      { id: 'include', html: '{% render "/etc/passwd" %}' },
      { id: 'script', html: '<h1 onclick="1">Still here</h1><script>document.title = "pwned"</script>' },
    ];
    service.writeContent(lobby(slides, { templates }));
    await page.getByText('Still here').waitFor();
    await expect.poll(() => service.log(), patience).toMatch(/"slideId":"endless"/);
    await expect.poll(() => service.log(), patience).toMatch(/"slideId":"include"/);
    expect(await page.title()).not.toBe('pwned');
  });

  it('what is not there, or not what it says, is skipped and reported, never shown', async () => {
    const { service, page } = player();
    const media_url = putImage(service.dataDir, 'red.png', red);
    const bad = [
      { id: 'missing', kind: 'image', media_url: '/media/missing.png' },
      { id: 'no-video', kind: 'video', media_url },
      { id: 'nobody', kind: 'web', media_url: 'http://127.0.0.1:9/' },
      { id: 'no-document', kind: 'pdf', media_url },
    ];
    const good = { id: 'good', kind: 'image', media_url, duration_seconds: 1 };
    service.writeContent(lobby([...bad, good]));
    await waitForColour(page, red);
    for (const { id } of bad) {
      await expect.poll(() => service.log(), patience).toMatch(new RegExp(`"slideId":"${id}","reason":".+"`));
    }
    await waitForConnection(service, 'lobby', { currentSlideId: 'good', currentSlide: bad.length });
  });

  it('with no slide on, a calm screen is shown: not black, not an error', async () => {
    const off = { kind: 'text', title: 'Last week', schedule_mode: 'between', schedule_end_datetime: '2020-01-01' };
    const { service, page } = player();
    service.writeContent(lobby([off]));
    await waitForConnection(service, 'lobby', { currentSlide: null, currentSlideId: null, currentSlideTitle: null });
    await page.locator('.idle').waitFor();
    expect(await page.getByText('Last week').count()).toBe(0);
  });
});
