/** Plays as pages report them, and a site's plays as they are read. */
import { randomUUID } from 'node:crypto';
import type { PagePlay, Play } from '../../../service/contract/plays.ts';
import { makeDevice } from '../../support/device-key.ts';
import { createOperator } from '../../support/operator.ts';
import { joinScreen, protocolsOf, type TestPage } from '../../support/page.ts';
import type { TestService } from '../../support/service.ts';

/** A play that began `seconds` ago. */
export const playAgo = (seconds: number, more: Partial<PagePlay> = {}): PagePlay => {
  const start = Date.now() - seconds * 1000;
  return {
    play_id: randomUUID(),
    slide_id: 'welcome-1',
    slide_title: 'Hello',
    kind: 'text',
    media_url: null,
    revision: '9f86d081884c7d65',
    started_at: new Date(start).toISOString(),
    ended_at: new Date(start + 8_000).toISOString(),
    duration_ms: 8_000,
    expected_ms: 8_000,
    result: 'played',
    reason: null,
    clock: 'synced',
    playlist_id: null,
    programme_id: null,
    zone: null,
    ...more,
  };
};

/** Reports plays and waits until they are acknowledged. */
export const report = async (page: TestPage, plays: readonly PagePlay[]): Promise<void> => {
  const ids = plays.map(({ play_id }) => play_id);
  page.send({ type: 'plays', plays });
  await page.message(({ type, play_ids }) => type === 'ack' && ids.every((id) => (play_ids as string[]).includes(id)));
};

/** Opens a page at the lobby, which proves its device; with its token where there is a secret. */
export const openLobby = async (
  service: TestService,
  secret: string | null,
  hello: object = {},
  { deviceId, prove } = makeDevice(),
) => {
  const proof = prove({ nodeId: service.nodeId });
  const protocols = await protocolsOf(service, 'lobby', secret);
  return joinScreen(service, 'lobby', { deviceId, proof, ...hello }, { protocols });
};

export const reportTo = async (
  service: TestService,
  plays: readonly PagePlay[],
  secret: string | null = null,
): Promise<void> => report(await openLobby(service, secret), plays);

export const readPlays = async (
  service: Pick<TestService, 'url' | 'get'>,
  query = '',
  secret: string | null = null,
): Promise<Play[]> =>
  (await (await createOperator(service, secret)('GET', `/console/api/plays${query}`)).json()) as Play[];

export const idsOf = (plays: readonly { play_id: string }[]): string[] => plays.map(({ play_id }) => play_id);
