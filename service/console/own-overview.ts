/** What this box contributes to the overview of the site. */
import type { Content } from '../content/index.ts';
import type { PeerSite } from '../contract/peers.ts';
import { deviceKey } from '../contract/readable.ts';
import type { Devices } from '../devices/index.ts';
import { groupBy } from '../domain/group-by.ts';
import { isOn } from '../domain/slide-schedule.ts';
import type { ServiceContext } from '../module.ts';
import type { LivePage, Screens } from '../screens/index.ts';
import { isStuck } from './device-state.ts';

interface Dependencies {
  content: Pick<Content, 'payload' | 'slides'>;
  screens: Pick<Screens, 'pages' | 'isFaulty'>;
  devices: Pick<Devices, 'sightings'>;
  /** What is wrong with this box, in sentences. */
  warnings(): Promise<readonly string[]>;
}

/** Delays the health check, which would slow the start down: it asks for the version of ffmpeg, for one. */
const WARNINGS_DELAY_MS = 100;
/** How long sentences are reused: to find them out costs more than an overview. */
const WARNINGS_MS = 5_000;

export const createOwnOverview = (
  { options, ids: { nodeId }, machineName, kiosk, now, monotonicNow }: ServiceContext,
  { content, screens, devices, warnings }: Dependencies,
): (() => PeerSite) => {
  let sentences: readonly string[] = [];
  let askedAt = Number.NEGATIVE_INFINITY;

  /** Those of the last time; an overview does not wait for them. */
  const lastWarnings = (): readonly string[] => {
    if (monotonicNow() - askedAt >= WARNINGS_MS) {
      askedAt = monotonicNow();
      setTimeout(() => {
        warnings().then(
          (found) => {
            sentences = found;
          },
          // The health of the box reports its own faults.
          () => {},
        );
      }, WARNINGS_DELAY_MS).unref();
    }
    return sentences;
  };

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
      reportsFaultsAlone: currentSlideId === null && screens.isFaulty(id),
      isHeld: paused || blackout || !page.startsWith('/screen/') || slide?.content?.['takeover'] !== undefined,
      hasSuccessor: (ms) =>
        slides.some(
          (each) => each !== slide && isOn(each, time, options.timeZone) && isOn(each, time - ms, options.timeZone),
        ),
    });
  };

  return () => {
    const pages = screens.pages();
    const connected = new Set(pages.map(({ connection }) => deviceKey(connection.deviceId ?? '')));
    return {
      name: machineName,
      warnings: [...lastWarnings()],
      screens: [...groupBy(pages, ({ slug }) => slug)].map(([slug, live]) => ({
        slug,
        connections: live.map(({ connection }) => connection),
      })),
      stuck: pages.filter(isPageStuck).map(({ connection }) => connection.id),
      displays: kiosk?.().screens.map(({ deviceId }) => deviceId) ?? [],
      seen: devices
        .sightings()
        .filter((sighting) => sighting.nodeId === nodeId && !connected.has(deviceKey(sighting.deviceId))),
    };
  };
};
