/** Asks the pages of this box to show which box and which display they are. */
import { identifySeconds } from '../contract/console/action-names.ts';
import type { Identify } from '../contract/socket.ts';
import type { LivePage } from './hub.ts';

interface Hub {
  pages(): readonly Pick<LivePage, 'connection'>[];
  send(ids: readonly string[], message: Identify): number;
}

/** How many pages were asked, and how many show it. */
export interface Identified {
  asked: number;
  shown: number;
}

/** @param patienceMs how long pages are awaited */
export const createIdentify = (patienceMs: number) => {
  /** The pages that have not answered, for each request in progress. */
  const pending = new Set<{ ids: Set<string>; end(): void }>();

  /** Resolves when no id is left, or after the patience. */
  const answered = (ids: Set<string>): Promise<void> =>
    new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        pending.delete(request);
        resolve();
      };
      const request = { ids, end };
      const timer = setTimeout(end, patienceMs);
      pending.add(request);
    });

  return {
    /** Called with the connection of a page that shows it. */
    onIdentified: (connectionId: string): void => {
      for (const request of pending) {
        if (request.ids.delete(connectionId) && request.ids.size === 0) request.end();
      }
    },
    /** Resolves when all pages have answered, or after the patience. */
    identify: async (
      hub: Hub,
      box: Pick<Identify, 'name' | 'address'>,
      isAsked: (page: Pick<LivePage, 'connection'>, number: number) => boolean,
    ): Promise<Identified> => {
      const asked = hub
        .pages()
        .map((page, index) => ({ page, number: index + 1 }))
        .filter(({ page, number }) => isAsked(page, number));
      const ids = new Set<string>();
      for (const { page, number } of asked) {
        const message: Identify = { type: 'identify', ...box, number, seconds: identifySeconds };
        ids.add(page.connection.id);
        hub.send([page.connection.id], message);
      }
      if (ids.size > 0) await answered(ids);
      return { asked: asked.length, shown: asked.length - ids.size };
    },
  };
};
