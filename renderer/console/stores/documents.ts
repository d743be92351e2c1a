/** The operator's document as it plays, fetched again when the overview reports a change, or the role changes. */
import { effect, type ReadonlySignal, signal } from '@preact/signals';
import { singleFlight } from '../../../service/domain/single-flight.ts';
import type { Client } from '../api/client.ts';
import type { Version } from '../model/document.ts';
import type { Access } from './access.ts';
import type { SiteStore } from './site.ts';

export type Documents = ReturnType<typeof createDocuments>;

export const createDocuments = (client: Pick<Client, 'request'>, site: SiteStore, { may }: Pick<Access, 'may'>) => {
  const current = signal<Version | null>(null);
  const error = signal<unknown>(null);

  const fetchCurrent = async (): Promise<void> => {
    try {
      const response = await client.request('/console/api/content', { timeout: 30_000 });
      const { sha256, content } = (await response.json()) as Version;
      // The tag tells them apart.
      const isWhole = response.headers.get('ETag')?.includes('-redacted') === false;
      current.value = { sha256, content, isWhole };
      error.value = null;
    } catch (reason) {
      error.value = reason;
    }
  };
  const load = singleFlight<void, void>(fetchCurrent);

  // Overviews come every second: what could not be loaded is tried again.
  effect(() => {
    const wanted = site.overview.value?.content.sha256;
    const mayEdit = may('PUT /console/api/drafts/:id');
    const known = current.peek();
    if ((wanted != null && wanted !== known?.sha256) || (known !== null && known.isWhole !== mayEdit)) void load();
  });

  const take = (version: Version): void => {
    current.value = version;
  };
  return {
    /** Null: not loaded yet. */
    current: current as ReadonlySignal<Version | null>,
    /** Why it could not be loaded. */
    error: error as ReadonlySignal<unknown>,
    load,
    /** Sets the version that this tab has published. */
    take,
  };
};
