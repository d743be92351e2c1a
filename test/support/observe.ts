import type { Health } from '../../service/contract/health.ts';
import type { PlaylistPayload } from '../../service/contract/playlist.ts';
import type { TestService } from './service.ts';

/** For what happens within a second, or on a busy machine much later. */
export const patience = { timeout: 20_000, interval: 50 };

export const payloadOf = async (service: Pick<TestService, 'get'>, slug = 'lobby'): Promise<PlaylistPayload> =>
  (await (await service.get(`/api/screens/${slug}/playlist`)).json()) as PlaylistPayload;

/** What stands on the slides of a screen now. */
export const titlesOf = async (service: Pick<TestService, 'get'>, slug = 'lobby'): Promise<(string | null)[]> =>
  (await payloadOf(service, slug)).slides.map(({ title }) => title);

export const healthOf = async (service: TestService): Promise<Health> =>
  (await (await service.get('/healthz')).json()) as Health;

/** The lines of the log with a message. */
export const logged = (service: TestService, message: string): Record<string, unknown>[] =>
  service
    .log()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === message);
