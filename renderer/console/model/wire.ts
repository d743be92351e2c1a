/** What `/console/api` answers, by its contract; types alone, so that no schema is loaded. */
import type { SiteOverview } from '../../../service/contract/console/site.ts';

export type { Connection } from '../../../service/contract/connections.ts';
export type { ContentCheck } from '../../../service/contract/console/content.ts';
export type { ContentIssue } from '../../../service/contract/content-terms.ts';
export type { MediaList } from '../../../service/contract/media.ts';
export type Site = SiteOverview;
export type SiteScreen = Site['screens'][number];
export type Device = SiteScreen['devices'][number];
export type Fault = NonNullable<SiteScreen['faults']>[number];
export type Takeover = Site['takeovers'][number];
export type Level = Takeover['level'];
