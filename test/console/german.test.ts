/** What boxes say, in the language of the console. test/support/openapi.ts checks every answer of the tests for new sentences. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { errorTable } from '../../service/contract/errors.ts';
import { lobbyWith } from '../content/samples.ts';
import { isSkipped } from '../support/browser.ts';
import { inGerman } from '../support/sentences.ts';
import { startTestService } from '../support/service.ts';
import { openConsole } from './browser.ts';

test.each([
  [
    '"Hello": "mute" is not known in the content of a video slide; did you mean "muted" or "volume"?',
    '"Hello": "mute" gibt es in content einer Folie der Art video nicht; meinten Sie "muted" oder "volume"?',
  ],
  [
    '"a" is not known here; did you mean "b"?; "c" is not known here',
    '"a" ist hier unbekannt; meinten Sie "b"?; "c" ist hier unbekannt',
  ],
  ['Invalid input: expected string, received number', 'nötig ist ein Text, nicht eine Zahl'],
  [
    'content.json is not valid, and there is nothing to play: playlists[0].slides[1].title: "is empty": required, but missing.',
    'content.json ist nicht gültig, und es gibt nichts zu zeigen: playlists[0].slides[1].title: "is empty": fehlt, ist aber nötig.',
  ],
  [
    'The box at http://10.0.0.5:8080 is away: it answers 401 signature_invalid (it has another secret).',
    'Die Box unter http://10.0.0.5:8080 ist nicht erreichbar: Sie antwortet mit 401 signature_invalid (sie hat ein anderes Geheimnis).',
  ],
  [
    'The device "The box is away." (a) of the screen "lobby" is away.',
    'Die Anzeige „The box is away.“ (a) des Bildschirms „lobby“ ist nicht verbunden.',
  ],
  ['The feed "news" failed: it is not JSON.', 'Der Feed „news“ ließ sich nicht laden: es ist kein JSON.'],
  ['The volume is 40.', 'Die Lautstärke ist 40.'],
  [
    'The 2 displays should be off and told, by cec: standby, on.',
    'Die 2 Anzeigen sollten aus sein und melden über cec: in Bereitschaft, an.',
  ],
  ['The file name has control characters.', 'Der Dateiname hat Steuerzeichen.'],
  ['something that nobody has foreseen', 'something that nobody has foreseen'],
])('%s', (english, german) => {
  expect(inGerman(english)).toBe(german);
});

test('every refusal has a German sentence, whichever pattern it looks like', () => {
  const { refusals } = JSON.parse(readFileSync('renderer/texts/de.json', 'utf8')).box as { refusals: object };
  for (const [, message] of Object.values(errorTable)) expect(Object.values(refusals)).toContain(inGerman(message));
});

test('a text of somebody else takes no time, however it repeats itself', () => {
  const begun = performance.now();
  for (const part of ['a: ', '"a": ', ' or ', '; did you mean ', 'The box at ', 'is away: it ']) {
    inGerman(part.repeat(300 / part.length));
    inGerman(`"x" is not known here; did you mean ${part.repeat(300 / part.length)}?`);
  }
  expect(performance.now() - begun).toBeLessThan(500);
});

test.skipIf(isSkipped)('a German console shows warnings, errors and problems of boxes in German', async () => {
  const content = lobbyWith([
    { id: 'one', kind: 'text', title: 'Hallo', schedule_start_time: '08:00' },
    { id: 'two', kind: 'rss', content: { feed_id: 'news' } },
  ]);
  const service = await startTestService({
    content: Object.assign(content, { rssFeeds: [{ id: 'news', url: 'http://127.0.0.1:9/feed.xml' }] }),
    env: { SIGNAGE_HOST: '0.0.0.0' },
  });
  const { page, go } = await openConsole(service.url, { locale: 'de-DE' });
  await go('content/playlists/welcome');
  await page.getByText(/^Schedule_start_time ohne schedule_mode bewirkt nichts: Die Folie läuft immer/).waitFor();
  await page.getByLabel('Sekunden auf dem Bildschirm').fill('-1');
  await page.getByText('Zu klein: mehr als 0').first().waitFor();
  await go('boxes');
  await page.getByText(/^Der Feed „news“ ließ sich nicht laden: der Server lehnt/).waitFor();
});
