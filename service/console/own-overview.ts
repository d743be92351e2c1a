/** What this box contributes to the overview of the site. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Content } from '../content/index.ts';
import { type PeerSite, peerSite } from '../contract/peers.ts';
import { canonicalDeviceId } from '../contract/readable.ts';
import type { Devices } from '../devices/index.ts';
import { groupBy } from '../domain/collections.ts';
import { isOn } from '../domain/slide-schedule.ts';
import type { ServiceContext } from '../module.ts';
import { fitting, type LivePage, type Screens } from '../screens/index.ts';
import { isStuck } from './overview.ts';

interface Dependencies {
  content: Pick<Content, 'payload' | 'slides'>;
  screens: Pick<Screens, 'pages' | 'faultOf'>;
  devices: Pick<Devices, 'sightings' | 'waiting'>;
  /** What is wrong with this box, in sentences. */
  warnings(): Promise<readonly string[]>;
  /** As the hardware told last; undefined: it has told none. */
  volume(): number | undefined;
}

/** How long sentences are reused: to find them out costs more than an overview. */
const WARNINGS_MS = 5_000;
/** An overview waits this long for new ones; other boxes wait for it up to 1 s. */
const WAIT_MS = 500;

export const createOwnOverview = (
  { options, ids: { nodeId }, machineName, kiosk, now, monotonicNow }: ServiceContext,
  { content, screens, devices, warnings, volume }: Dependencies,
): (() => Promise<PeerSite>) => {
  let sentences: readonly string[] = [];
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | null = null;

  const refresh = async (): Promise<void> => {
    try {
      sentences = peerSite.shape.warnings.parse([...(await warnings())]);
    } catch {
      // The health of the box reports its own faults.
    }
    asking = null;
  };

  /** Those of the last {@link WARNINGS_MS}; older ones only where new ones take longer than {@link WAIT_MS}. */
  const recentWarnings = async (): Promise<readonly string[]> => {
    if (asking === null && monotonicNow() - askedAt >= WARNINGS_MS) {
      askedAt = monotonicNow();
      asking = refresh();
    }
    if (asking !== null) await Promise.race([asking, delay(WAIT_MS, undefined, { ref: false })]);
    return sentences;
  };

  /** The devices of displays that somebody has switched off. */
  const switchedOff = () => kiosk?.().screens.filter(({ off }) => off) ?? [];

  const isPageStuck = ({ slug, connection, unchangedMs }: LivePage): boolean => {
    const { id, currentSlideId, paused, blackout, page } = connection;
    const time = now();
    const slides = content.slides(slug);
    const slide = slides.find((each) => each.id === currentSlideId) ?? null;
    const modifiedMs = time - Date.parse(content.payload(slug)?.screen.modified_at ?? '');
    return isStuck({
      slide,
      // New slides take their turn when the current one is over.
      unchangedMs: Math.min(unchangedMs, modifiedMs),
      reportsFaultsAlone: currentSlideId === null && screens.faultOf(id) !== null,
      isHeld: paused || blackout || !page.startsWith('/screen/') || slide?.content?.['takeover'] !== undefined,
      hasSuccessor: (ms) =>
        slides.some(
          (each) => each !== slide && isOn(each, time, options.timeZone) && isOn(each, time - ms, options.timeZone),
        ),
    });
  };

  return async () => {
    const recent = await recentWarnings();
    const pages = fitting(screens.pages(), ({ connection }) => [connection, screens.faultOf(connection.id)]);
    const level = volume();
    const off = switchedOff();
    const isOff = new Set(off.map(({ deviceId }) => canonicalDeviceId(deviceId)));
    const connected = new Set(pages.map(({ connection }) => canonicalDeviceId(connection.deviceId ?? '')));
    return {
      name: machineName,
      warnings: [...recent],
      screens: [...groupBy(pages, ({ slug }) => slug)].map(([slug, live]) => ({
        slug,
        connections: live.map(({ connection }) => connection),
      })),
      // The page of a display that is off stands still.
      stuck: pages
        .filter((page) => !isOff.has(canonicalDeviceId(page.connection.deviceId ?? '')) && isPageStuck(page))
        .map(({ connection }) => connection.id),
      faults: pages.flatMap(({ connection: { id } }) => {
        const fault = screens.faultOf(id);
        return fault === null ? [] : { connectionId: id, ...fault };
      }),
      displays: kiosk?.().screens.map(({ deviceId }) => deviceId) ?? [],
      off: off.map(({ deviceId }) => deviceId),
      names: off.map(({ deviceId, display, number }) => ({
        deviceId,
        names: [display, number].filter(Boolean).map(String),
      })),
      ...(level !== undefined && { volume: level }),
      waiting: devices.waiting().map((deviceId) => ({ deviceId, nodeId })),
      seen: devices
        .sightings()
        .filter((sighting) => sighting.nodeId === nodeId && !connected.has(canonicalDeviceId(sighting.deviceId))),
    };
  };
};
