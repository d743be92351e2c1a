/** What /healthz makes of the state of a box. */
import { expect, test } from 'vitest';
import { joinReports } from '../../service/health/index.ts';
import { peerIssues } from '../../service/peers/health.ts';
import { hello, lobby, lobbyWith } from '../content/samples.ts';
import { healthOf, logged, patience } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { startTestService, type TestService } from '../support/service.ts';

const statusOf = async (service: TestService) => {
  const { status, warnings } = await healthOf(service);
  return { status, warnings };
};
const fine = { status: 'ok', warnings: [] };

test('a box with nothing wrong is ok', async () => {
  expect(await statusOf(await startTestService({ content: lobby }))).toEqual(fine);
});

test('content that is not valid degrades the box until it is mended', async () => {
  const service = await startTestService({ content: lobby });
  service.writeContent('{"screens": [}');
  await expect
    .poll(() => statusOf(service), patience)
    .toEqual({
      status: 'degraded',
      warnings: [
        expect.stringMatching(/^content.json is not valid, and the last good content keeps playing: .*line 1/),
      ],
    });
  service.writeContent(lobby);
  await expect.poll(() => statusOf(service), patience).toEqual(fine);
});

test('a first start with broken content fails, answers 200, and claims no last good content', async () => {
  const service = await startTestService({ content: '{"screens": 1}' });
  const response = await service.get('/healthz');
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    status: 'failing',
    warnings: [expect.stringMatching(/^content.json is not valid, and there is nothing to play: screens: /)],
    content: { status: 'invalid' },
  });
  expect(logged(service, 'content.json is refused; there is nothing to play')).toHaveLength(1);
  expect(service.log()).not.toContain('last good content keeps');
  service.writeContent(lobby);
  await expect.poll(() => statusOf(service), patience).toEqual(fine);
});

test('content without a screen shows nothing', async () => {
  const service = await startTestService({ content: { screens: [] } });
  expect(await statusOf(service)).toEqual({ status: 'failing', warnings: ['The content has no screens.'] });
});

test('warnings of the content and of settings leave the status ok', async () => {
  const service = await startTestService({
    content: lobbyWith([{ ...hello, content: { backgroud: 'red' } }]),
    env: { SIGNAGE_SHARED_SECRET: 'short' },
  });
  const { status, warnings, content } = await healthOf(service);
  expect([status, warnings.length, content.warnings.length]).toEqual(['ok', 1, 1]);
});

test('a feed that failed is named with the reason', async () => {
  const service = await startTestService({
    content: lobbyWith([hello], { rssFeeds: [{ id: 'news', url: 'http://127.0.0.1:9/feed' }] }),
  });
  await expect
    .poll(() => statusOf(service), patience)
    .toEqual({
      status: 'degraded',
      warnings: [expect.stringMatching(/^The feed "news" failed: .+\.$/)],
    });
});

test('without ffmpeg the box is degraded', async () => {
  const service = await startTestService({ content: lobby, env: { SIGNAGE_FFMPEG_PATH: '/nowhere/ffmpeg' } });
  expect(await statusOf(service)).toMatchObject({ status: 'degraded', warnings: [expect.stringContaining('ffmpeg')] });
});

test('a bound device that leaves is away after some seconds, and no more once it is back', async () => {
  const service = await startTestService({ content: lobby });
  const binding = { deviceId: 'wall-1', clientName: 'Wall', screenSlug: 'lobby' };
  expect((await service.post('/api/onboarding', binding)).status).toBe(200);
  expect(await statusOf(service)).toEqual(fine);
  const page = await joinScreen(service, 'lobby', { deviceId: 'wall-1' });
  expect(await statusOf(service)).toEqual(fine);
  page.socket.close();
  await expect
    .poll(() => statusOf(service), patience)
    .toEqual({
      status: 'degraded',
      warnings: ['The device "Wall" (wall-1) of the screen "lobby" is away.'],
    });
  await joinScreen(service, 'lobby', { deviceId: 'wall-1' });
  await expect.poll(() => statusOf(service), patience).toEqual(fine);
});

test('a peer that was never there is away only after a minute', () => {
  const peer = { url: 'http://10.0.0.9:8080', state: 'away' as const, reason: 'does not answer' };
  const peers = Array.from({ length: 12 }, () => ({ ...peer, nodeId: null, lastContactAt: null, version: null }));
  expect(peerIssues(peers, 59_000)).toEqual([]);
  const sentences = peerIssues(peers, 60_000);
  expect(sentences).toHaveLength(11);
  expect(sentences[0]).toBe('The box at http://10.0.0.9:8080 is away: it does not answer.');
  expect(sentences.at(-1)).toBe('2 more boxes are away.');
});

test('the sentences of all modules are joined by subject, and those about what is stored come last', () => {
  const reports = [
    { issues: { deliveries: ['Plays wait.'], feeds: ['A feed failed.'] }, notes: ['The secret is short.'] },
    { issues: { content: ['The content has no screens.'] }, isFailing: true },
  ];
  expect(joinReports([], [])).toMatchObject({ status: 'ok', warnings: [] });
  expect(joinReports([], ['The disk is full.'])).toMatchObject({ status: 'degraded', warnings: ['The disk is full.'] });
  expect(joinReports(reports, ['The disk is full.'])).toMatchObject({
    status: 'failing',
    warnings: [
      'The content has no screens.',
      'A feed failed.',
      'Plays wait.',
      'The disk is full.',
      'The secret is short.',
    ],
    store: { faults: ['The disk is full.'] },
  });
});
