/** The box's own Wi-Fi, over which a phone tells it that of the house: looks, decides, asks root, and answers with the form. */
import { readdirSync } from 'node:fs';
import type { Server } from 'node:http';
import { networkInterfaces } from 'node:os';
import type { Logger } from 'pino';
import { hotspotAddress, lanHost } from '../../service/domain/lan-address.ts';
import type { HotspotShown, KioskSettings } from '../../service/public.ts';
import { readNetwork, readTold, stampOf } from '../system.ts';
import { decideHotspot, firstHotspot, type HotspotOrder, wifiCode } from './decide.ts';
import { openForm, type Wifi } from './form.ts';

interface HotspotPorts {
  log: Pick<Logger, 'info' | 'warn'>;
  /** Whether one of its displays has or had a screen; null: that cannot be read. */
  wasBound(): boolean | null;
  /** Null: the settings cannot be read. */
  settings(): KioskSettings | null;
  configure(changes: Pick<KioskSettings, 'network'>): Promise<void>;
  order(word: `hotspot-${HotspotOrder}`): Promise<void>;
}

interface Told {
  ssid: string;
  password: string;
  networks: string[];
}

const hasRadio = (): boolean => {
  try {
    return readdirSync('/sys/class/ieee80211').length > 0;
  } catch {
    return false;
  }
};

/** @param paths `hotspot`: where root tells of it; null: this machine was not made from an image, and has none */
export const createHotspot = (
  { log, wasBound, settings, configure, order }: HotspotPorts,
  paths: { hotspot: string | null; network: string | null; pagesDir: string },
) => {
  let state = firstHotspot(performance.now());
  let form: Server | null = null;
  let told: Told | null = null;
  let joined = false;

  const closeForm = (): void => {
    form?.close();
    form?.closeAllConnections();
    form = null;
    joined = false;
  };

  const serve = (): void => {
    form = openForm(
      {
        log,
        shown: () => ({ networks: told?.networks ?? [], fault: readNetwork(paths.network) }),
        onVisitor: () => {
          joined = true;
        },
        keep: async (wifi: Wifi) => {
          // Addresses belong to the network that was there before.
          const { ntp, hostname } = settings()?.network ?? {};
          await configure({ network: { wifi, ...(ntp && { ntp }), ...(hostname && { hostname }) } });
        },
        join: () => look('join'),
      },
      { pagesDir: paths.pagesDir, address: hotspotAddress },
    );
  };

  const look = (wish: HotspotOrder | null = null): void => {
    if (paths.hotspot == null) return;
    told = readTold<Told>(paths.hotspot);
    const seen = {
      now: performance.now(),
      link: lanHost(networkInterfaces(), '::') !== null,
      isOpen: told !== null,
      mayOpen: wasBound() === false && hasRadio(),
      fault: stampOf(paths.network),
    };
    const next = decideHotspot(state, seen, wish);
    state = next.state;
    if (state.phase === 'open' && form === null) serve();
    if (state.phase !== 'open' && form !== null) closeForm();
    if (next.order === null) return;
    log.info({ order: next.order }, 'the Wi-Fi of the box itself');
    order(`hotspot-${next.order}`).catch((error: unknown) => log.warn({ err: error }, 'root could not be asked'));
  };

  return {
    /** To be called every second, and with a wish of a person. */
    look,
    /** What displays show; null: it is not open. */
    shown: (): HotspotShown | null =>
      told === null || state.phase !== 'open'
        ? null
        : {
            ssid: told.ssid,
            password: told.password,
            code: wifiCode(told),
            address: `http://${hotspotAddress}`,
            joined,
          },
    /** For the maintenance page; null: this box cannot open one. */
    phase: () => (paths.hotspot != null && hasRadio() ? state.phase : null),
    close: closeForm,
  };
};
