/** The site as a box sees it. */
import type { SiteOverview } from '../contract/console/site.ts';
import type { Answer, Client } from './client.ts';

export const fetchSite = (client: Client): Promise<Answer<SiteOverview>> =>
  client.ask<SiteOverview>({ path: '/console/api/site' });
