import type { RouterContext } from '@koa/router';
import type { Logger } from 'pino';
import type { Vouch } from '../auth/access.ts';
import type { RouteName } from '../auth/policy.ts';

export interface RequestState {
  /** Where the request comes from; behind a trusted proxy, the forwarded address. */
  clientIp: string;
  /** Names the request in every line that it causes. */
  log: Logger;
  /** What the body of a signed request must hash to (SHA-256, hex); null where the request is not signed. */
  bodySha256: string | null;
  /** Signs the answer; null where the request is not signed. */
  vouch: Vouch | null;
}

export type Context = RouterContext<RequestState>;

/** What a room of the house answers: its routes, by their names in the policy. */
export type Routes = Partial<Record<RouteName, (ctx: Context) => unknown>>;
