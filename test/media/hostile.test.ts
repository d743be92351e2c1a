/** Files that are built to keep the service busy: nobody waits for what one of them says of itself. */
import { expect, it } from 'vitest';
import { shareTestService } from '../support/service.ts';
import { manySizes, nestedBoxes, nestedElements } from './hostile.ts';

const service = shareTestService({ content: { screens: [], playlists: [] } });

it.each<[name: string, bytes: Buffer, mostMs: number]>([
  ['film.mp4', nestedBoxes(1000, 1000), 10_000],
  ['picture.avif', manySizes(13_000, 32_000), 2_500],
  ['film.webm', nestedElements(500, 1000), 2_500],
])('an upload of a hostile %s is answered soon, and the service answers others', async (name, bytes, mostMs) => {
  const begun = performance.now();
  const uploading = service().get(`/api/media/${name}`, { method: 'PUT', body: new Uint8Array(bytes) });
  for (let asked = 0; asked < 3; asked++) expect((await service().get('/healthz')).status).toBe(200);
  expect((await uploading).status).toBe(201);
  expect(performance.now() - begun).toBeLessThan(mostMs);
});
