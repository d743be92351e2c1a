/** Documents of PowerPoint, Word and OpenDocument. `npm test` knows no LibreOffice; `npm run soak` uses that of the machine. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { MediaList } from '../../service/contract/media.ts';
import { lobbyWith } from '../content/samples.ts';
import { healthOf } from '../support/observe.ts';
import { freePort } from '../support/ports.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { isSoak } from '../support/soak.ts';
import { byOffice, hasOffice } from './corpus/documents.ts';

/** A docx by its name and its first bytes alone. */
const archive = new Uint8Array([0x50, 0x4b, 3, 4, ...Buffer.alloc(60)]);

const settled = async (box: TestService, name: string) => {
  const read = async () =>
    ((await (await box.get('/console/api/media')).json()) as MediaList).media.find(({ filename }) => filename === name);
  await expect.poll(async () => (await read())?.rendition.state, { timeout: 120_000 }).toMatch(/^(?:ready|failed)$/);
  return (await read())?.rendition;
};

it('a document at a box without LibreOffice is kept, and a warning says what is missing', async () => {
  const slides = [{ id: 'menu', kind: 'pdf', media_url: '/media/menu.docx' }];
  const box = await startTestService({ content: lobbyWith(slides), env: { PATH: '' } });
  await box.get('/api/media/menu.docx', { method: 'PUT', body: archive });
  expect(await settled(box, 'menu.docx')).toMatchObject({
    state: 'failed',
    reason: 'No box has LibreOffice to convert it: install libreoffice-impress and libreoffice-writer.',
  });
  const { content } = await healthOf(box);
  expect(JSON.stringify(content)).toContain('menu.docx\\" is not shown. No box has LibreOffice');
  // Who publishes is told, too, before and with it.
  const edited = JSON.stringify(lobbyWith([{ id: 'first', kind: 'text', title: 'First' }, ...slides]));
  const { sha256 } = (await (await box.get('/console/api/content')).json()) as { sha256: string };
  for (const [method, path] of [
    ['POST', '/console/api/content/check'],
    ['PUT', '/console/api/content'],
  ] as const) {
    const headers = { 'Content-Type': 'application/json', 'If-Match': `"${sha256}"` };
    const answer = await box.get(path, { method, headers, body: edited });
    expect(await answer.json(), path).toMatchObject({
      warnings: [
        {
          path: 'playlists[0].slides[1].media_url',
          message: expect.stringMatching(/^"menu": "menu\.docx" is not shown\. No box has LibreOffice/),
        },
      ],
    });
  }
  expect(Buffer.from(await (await box.get('/media/menu.docx')).arrayBuffer())).toEqual(Buffer.from(archive));
});

/** What a PDF document says and holds, decompressed. */
const insideOf = (pdf: Buffer): string => {
  const parts = [pdf.toString('latin1')];
  for (let at = pdf.indexOf('stream\n'); at >= 0; at = pdf.indexOf('stream\n', at + 1)) {
    try {
      parts.push(inflateSync(pdf.subarray(at + 7)).toString('latin1'));
    } catch {
      // It is not compressed.
    }
  }
  return parts.join('\n');
};

describe.skipIf(!isSoak || !hasOffice)('LibreOffice', () => {
  it('follows no link to an address or a file', { timeout: 300_000 }, async () => {
    const port = await freePort();
    const secret = join(temporaryFolder(), 'secret.txt');
    writeFileSync(secret, 'root:secret:0:0');
    const links = [`http://127.0.0.1:${port}/picture.png`, 'file:///etc/passwd', `file://${secret}`];
    // The one that makes them follows their links: nothing listens yet.
    const files = ['odp', 'docx', 'odt', 'pptx'].map((extension) => ({
      name: `links.${extension}`,
      body: new Uint8Array(byOffice(extension, links)),
    }));
    const asked: string[] = [];
    const listener = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end();
    });
    await new Promise<void>((resolve) => listener.listen(port, '127.0.0.1', resolve));
    onTestFinished(() => void listener.close());
    const box = await startTestService({ content: lobbyWith([]), env: { PATH: process.env.PATH ?? '' } });
    for (const { name, body } of files) {
      await box.get(`/api/media/${name}`, { method: 'PUT', body });
      expect(await settled(box, name)).toMatchObject({ state: 'ready' });
      const pdf = Buffer.from(await (await box.get(`/media/${name}`)).arrayBuffer());
      expect(insideOf(pdf)).not.toMatch(/root:/);
    }
    expect(asked).toEqual([]);
  });
});
