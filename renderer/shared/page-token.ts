/** The credentials of a page, where the service asks for any: served inside the page, renewed while it lives. */
import type { PageBoot, pageAuthHeader, pageHeader } from '../../service/contract/page.ts';
import type { socketProtocol, tokenProtocol } from '../../service/contract/socket.ts';
import { readBoot } from './boot.ts';
import { patientFetch, waitMs } from './patience.ts';

type Issued = PageBoot['pageToken'];

export interface PageToken {
  /** The headers that go with every API fetch of the page. */
  header(): Record<string, string>;
  /** The subprotocols to open a socket with. */
  protocols(): string[];
  /** Gets another token, as where the service has refused this one. Where that fails, it is tried again in time. */
  renew(): Promise<void>;
}

// By their types the same as in the vocabulary, whose schemas a phone need not load.
const header: typeof pageAuthHeader = 'x-signage-page-auth';
const plainHeader: typeof pageHeader = 'x-signage-page';
const protocol: typeof socketProtocol = 'signage.v1';
const prefix: typeof tokenProtocol = 'token.';

const LOOK_MS = 1_000;

/**
 * @param issued the token that the page was served with; null where the service asks for none
 * @param page the page's own address: it is public, and has a fresh token inside when the present one has died
 */
export const createPageToken = (issued: Issued, page: string): PageToken => {
  let current = issued;
  let since = { steady: performance.now(), wall: Date.now() };
  let failures = 0;
  let notBefore = 0;
  let renewing: Promise<void> | null = null;

  const headerNow = (): Record<string, string> =>
    current === null ? { [plainHeader]: '1' } : { [header]: current.token };

  /** The steady clock may stop while the machine sleeps, the other may be set: the one that got further is right. */
  const ageMs = (): number => Math.max(performance.now() - since.steady, Date.now() - since.wall);

  const isDue = (): boolean => {
    if (current === null || performance.now() < notBefore) return false;
    const lifeMs = Date.parse(current.expiresAt) - Date.parse(current.issuedAt);
    return ageMs() >= (lifeMs * 2) / 3;
  };

  const fetchAnother = async (): Promise<Issued> => {
    if (current !== null) {
      const renewed = await patientFetch('/api/auth/page', { method: 'POST', headers: headerNow() }, (response) => {
        if (response.ok) return response.json() as Promise<Issued>;
        // The token is dead, or this variant of the interface has no renewal: the page itself brings another.
        if ([401, 404].includes(response.status)) return undefined;
        throw new Error(`renewing the token answers ${response.status}`);
      });
      if (renewed !== undefined) return renewed;
    }
    const html = await patientFetch(page, {}, (response) => response.text());
    return readBoot<PageBoot>(new DOMParser().parseFromString(html, 'text/html')).pageToken;
  };

  const renew = async (): Promise<void> => {
    try {
      const next = await fetchAnother();
      current = next?.token ? next : null;
      since = { steady: performance.now(), wall: Date.now() };
      failures = 0;
    } catch {
      notBefore = performance.now() + waitMs(failures++);
    }
  };

  const renewOnce = (): Promise<void> => {
    renewing ??= renew().finally(() => {
      renewing = null;
    });
    return renewing;
  };

  setInterval(() => {
    if (isDue()) void renewOnce();
  }, LOOK_MS);

  return {
    header: headerNow,
    protocols: () => (current === null ? [protocol] : [protocol, prefix + current.token]),
    renew: renewOnce,
  };
};
