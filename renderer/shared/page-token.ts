/** The page token, if the service requires one: embedded in the page and renewed while the page is open. */
import type { PageBoot, pageAuthHeader, pageHeader } from '../../service/contract/page.ts';
import type { socketProtocol, tokenProtocol } from '../../service/contract/socket.ts';
import { fetchBoot } from './boot.ts';
import { patientFetch, waitMs } from './retry.ts';

type Issued = PageBoot['pageToken'];

export type PageToken = ReturnType<typeof createPageToken>;

// Typed by the contract, but not imported, so that a phone does not load its schemas.
const header: typeof pageAuthHeader = 'x-signage-page-auth';
const plainHeader: typeof pageHeader = 'x-signage-page';
const protocol: typeof socketProtocol = 'signage.v1';
const prefix: typeof tokenProtocol = 'token.';

/** A clock that is set, and a sleep of the machine, are noticed within this time, or when a request is refused. */
const LONGEST_CHECK_MS = 15_000;
const SHORTEST_CHECK_MS = 50;
/** A token that is refused is renewed once within this time. */
const REFUSED_MS = 1_000;
/** Times in tokens are whole seconds, rounded down. */
const ROUNDED_MS = 1_000;

/** Whether an answer may mean that the token is no longer right: it has expired, or is one of many wrong ones from this address. */
export const isTokenRefused = (status: number): boolean => status === 401 || status === 429;

/** At which age a token is renewed, ms. */
const renewalAgeMs = ({ issuedAt, expiresAt }: NonNullable<Issued>): number => {
  const lifeMs = Date.parse(expiresAt) - Date.parse(issuedAt);
  return (Math.max(lifeMs - ROUNDED_MS, lifeMs / 2) * 2) / 3;
};

/**
 * @param issued the token that the page was served with; null if the service requires none
 * @param page the URL of the page, which is public and contains a new token if the current one has expired
 * @param isRenewed false: the service renews none, as in the baseline variant, and each new one is that of the page
 */
export const createPageToken = (issued: Issued, page: string, isRenewed = true) => {
  let current = issued;
  // Since the page was requested: a slow network may have used up much of a short life.
  let since = { monotonic: 0, wall: Date.now() - performance.now() };
  let failures = 0;
  let notBefore = 0;
  let renewing: Promise<void> | null = null;
  let refusedAt = Number.NEGATIVE_INFINITY;

  const headerNow = (): Record<string, string> =>
    current === null ? { [plainHeader]: '1' } : { [header]: current.token };

  /** The monotonic clock may stop while the machine sleeps, and the other clock may be set: the larger difference counts. */
  const ageMs = (): number => Math.max(performance.now() - since.monotonic, Date.now() - since.wall);

  /** How long until a renewal is due, ms; may be negative. */
  const dueInMs = (): number =>
    current === null
      ? Number.POSITIVE_INFINITY
      : Math.max(renewalAgeMs(current) - ageMs(), notBefore - performance.now());

  const fetchToken = async (): Promise<Issued> => {
    if (current !== null && isRenewed) {
      const renewed = await patientFetch('/api/auth/page', { method: 'POST', headers: headerNow() }, (response) => {
        if (response.ok) return response.json() as Promise<Issued>;
        // The page itself contains a new one, also where its variant has become the one without this path.
        if (isTokenRefused(response.status) || response.status === 404) return undefined;
        throw new Error(`renewing the token answers ${response.status}`);
      });
      if (renewed !== undefined) return renewed;
    }
    return (await fetchBoot<PageBoot>(page)).pageToken;
  };

  const renew = async (): Promise<void> => {
    const asked = { monotonic: performance.now(), wall: Date.now() };
    try {
      const next = await fetchToken();
      current = next?.token ? next : null;
      since = asked;
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

  const check = (): void => {
    if (dueInMs() <= 0) void renewOnce();
    setTimeout(check, Math.min(Math.max(dueInMs(), SHORTEST_CHECK_MS), LONGEST_CHECK_MS));
  };
  setTimeout(check, SHORTEST_CHECK_MS);

  return {
    /** The headers of the page's API requests. */
    header: headerNow,
    /** The subprotocols of the page's socket. */
    protocols: (): string[] => (current === null ? [protocol] : [protocol, prefix + current.token]),
    /** Renews the token, for example after it was refused. If that fails, it is retried later. */
    renew: renewOnce,
    /** Renews a token that a request was refused with, although it is not due: the clock of the box was set, perhaps. */
    refused: async (): Promise<void> => {
      if (renewing === null && performance.now() - refusedAt < REFUSED_MS) return;
      refusedAt = performance.now();
      await renewOnce();
    },
  };
};
