/** The last changes of the site, fetched again when somebody has done something to a display. */
import { computed, effect, type ReadonlySignal, signal } from '@preact/signals';
import type { AuditRecord } from '../../../service/contract/console/site.ts';
import type { Client } from '../api/client.ts';
import { displaysOf } from '../model/displays.ts';
import { isHeld } from '../model/doers.ts';
import type { Access } from './access.ts';
import type { SiteStore } from './site.ts';

export type AuditStore = ReturnType<typeof createAuditStore>;

const AGAIN_MS = 3_000;

export const createAuditStore = (client: Pick<Client, 'json'>, site: SiteStore, { may }: Pick<Access, 'may'>) => {
  const records = signal<readonly AuditRecord[]>([]);
  /** What somebody did, as far as the overview tells. */
  const held = computed(() =>
    [
      ...site
        .screens()
        .flatMap((screen) =>
          displaysOf(screen).flatMap((display) => (isHeld(display) ? `${display.key} ${display.state}` : [])),
        ),
      ...(site.overview.value?.takeovers ?? []).map(({ id, updatedAt }) => `${id} ${updatedAt}`),
    ].join(),
  );
  const load = (): void =>
    void client
      .json<{ records: AuditRecord[] }>('/console/api/audit')
      .then((answer) => {
        records.value = answer.records;
      })
      // Without the audit the wall names no operator.
      .catch(() => undefined);
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    clearTimeout(timer);
    if (held.value === '' || !may('GET /console/api/audit')) return;
    load();
    // A display can report its new state before the box has written the audit record.
    timer = setTimeout(load, AGAIN_MS);
  });
  return {
    /** Newest first; empty while nothing needs them. */
    records: records as ReadonlySignal<readonly AuditRecord[]>,
  };
};
