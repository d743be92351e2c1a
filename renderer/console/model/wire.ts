/** What `/console/api` answers. */
import type { Connection } from '../../../service/contract/connections.ts';
import type { Screen } from '../../../service/contract/playlist.ts';

export type { Connection, Screen };

export interface Box {
  nodeId: string | null;
  name: string;
  url: string;
  version: string | null;
  status: 'here' | 'alive' | 'away';
  lastSeenAt: string | null;
  warnings: string[];
}

export type DeviceState = 'playing' | 'closed' | 'stuck' | 'away' | 'never';

export interface Device {
  deviceId: string;
  clientName: string | null;
  nodeId: string | null;
  lastSeenAt: string | null;
  state: DeviceState;
}

export interface SiteScreen {
  screen: Screen;
  tags: string[];
  devices: Device[];
  connections: Connection[];
}

export type Level = 'info' | 'warning' | 'emergency';

export interface Takeover {
  id: string;
  targets: string[];
  level: Level;
  title: string | null;
  body: string | null;
  media_url: string | null;
  from: string;
  until: string;
  updatedAt: string;
  shown: number;
  expected: number;
}

export interface Site {
  site: string;
  nodeId: string;
  content: { sha256: string | null; changedAt: string | null; status: 'ok' | 'invalid' };
  boxes: Box[];
  screens: SiteScreen[];
  takeovers: Takeover[];
  degraded: boolean;
}
