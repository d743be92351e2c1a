/** What `/console/api` answers, by its contract; types alone, so that no schema is loaded. */
import type { SiteOverview } from '../../../service/contract/console/site.ts';

export type { Connection } from '../../../service/contract/connections.ts';
export type Site = SiteOverview;
export type SiteScreen = Site['screens'][number];
export type Device = SiteScreen['devices'][number];
export type Takeover = Site['takeovers'][number];
export type Level = Takeover['level'];

export interface Medium {
  filename: string;
  url: string;
  size: number;
  sha256: string;
  media_type: string;
  width: number | null;
  height: number | null;
  duration_seconds: number | null;
  modified_at: string;
  used_by: string[];
}

export interface MediaList {
  media: Medium[];
  used_bytes: number;
  quota_bytes: number;
}
