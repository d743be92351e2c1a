/** What this box sees: the state of everything that an alert can be about. */
import { statfs } from 'node:fs/promises';
import type { Content } from '../../content/index.ts';
import { type BoxAlerts, isKnownFailure, mostFailures } from '../../contract/alerts.ts';
import type { Devices } from '../../devices/index.ts';
import { isOpen } from '../../domain/opening-hours.ts';
import { shownName } from '../../domain/slides.ts';
import { spareOf } from '../../media/index.ts';
import type { ServiceContext } from '../../module.ts';
import type { Peers } from '../../peers/index.ts';
import type { Screens } from '../../screens/index.ts';
import { publicUrlOf, type Streams } from '../../streams/index.ts';
import { type Condition, keyOf, type Outages } from './outages.ts';

type Failure = BoxAlerts['failing'][number];

/** How long an update keeps the outages of a box quiet. */
export const UPDATE_MS = 600_000;
/** Sources are cut in messages, and in the state, which other boxes refuse if a text is too long. */
const MAX_SOURCE = 400;

const sentences: Readonly<Record<Failure['kind'], readonly [failing: string, ok: string]>> = {
  content: ['is not valid', 'is valid again'],
  stream: ['has failed, and is tried again', 'is live again'],
  storage: ['is almost full', 'has room again'],
  fault: ['cannot be shown', ''],
};
const signedOut = 'is signed out: somebody must sign in on the maintenance page of that box';

/** What a box reports of itself, and slides whose pages are signed out. */
type AnyFailure = Omit<Failure, 'kind'> & { kind: Failure['kind'] | 'slide' };

/** Of a slide on one box: others may be signed in there. */
const slideOn = (slideId: string, nodeId: string): string => `${slideId} ${nodeId}`;

const failureCondition = ({ kind, subject, name, detail }: AnyFailure, status: 'failing' | 'ok'): Condition => ({
  kind,
  subject,
  status,
  message: `${name} ${kind === 'slide' ? signedOut : status === 'failing' ? (detail ?? sentences[kind][0]) : sentences[kind][1]}.`,
});

export const createWatch = (
  { options, now, tempo, ids, dirs, machineName, log, kiosk }: ServiceContext,
  {
    content,
    streams,
    peers,
    screens,
    devices,
  }: {
    content: Pick<Content, 'screens' | 'hours' | 'status' | 'sessionPages'>;
    streams: Pick<Streams, 'list'>;
    peers: Pick<Peers, 'all' | 'alive'>;
    screens: Pick<Screens, 'failingSlides'>;
    devices: Pick<Devices, 'statuses' | 'sightings'>;
  },
) => {
  const { nodeId } = ids;
  const contentName = `content.json on the box ${machineName}`;
  const storageName = `The disk of the box ${machineName}`;
  let isLow = false;
  let timer: NodeJS.Timeout | undefined;

  const readDisk = async (): Promise<void> => {
    try {
      const volumes = await Promise.all([dirs.data, dirs.uploads, dirs.media].map((folder) => statfs(folder)));
      isLow = volumes.some((volume) => spareOf(volume) < 0);
    } catch (error) {
      log.debug({ err: error }, 'the free space could not be read');
    }
  };

  const contentDetail = (): string =>
    `is not valid; ${content.screens().length === 0 ? 'there is nothing to play' : 'the last good content keeps playing'}`;

  const streamName = (source: string, key: string): string => `The stream ${key} of ${source.slice(0, MAX_SOURCE)}`;

  const signedOutSlides = (): NonNullable<BoxAlerts['signedOut']> => {
    const pages = content.sessionPages();
    if (pages.length === 0 || kiosk === undefined) return [];
    const out = kiosk().sessions.flatMap(({ name, signed_out }) => signed_out.map((address) => `${name} ${address}`));
    return pages
      .filter(({ session, address }) => out.includes(`${session} ${address}`))
      .map(({ slideId, title, session }) => ({
        subject: slideId,
        name: `The page of the slide "${shownName(title) || slideId}" (session ${session}) on the box ${machineName}`,
      }));
  };

  /**
   * Failing streams and signed-out pages have alerts of their own and are left out; so are pages with a session on a box
   * without a kiosk, whose browsers skip them.
   */
  const failingSlides = (listed: ReturnType<Streams['list']>, out: readonly string[]): Failure[] => {
    const failing = listed.flatMap(({ publicUrl, state }) => (state === 'failing' ? [publicUrl] : []));
    const sessions = kiosk === undefined ? content.sessionPages().map(({ slideId }) => slideId) : out;
    return screens.failingSlides().flatMap(({ slug, slide, reason }): Failure[] => {
      const stream = publicUrlOf(slide.media_url ?? '');
      if ((stream !== null && failing.includes(stream)) || sessions.includes(slide.id)) return [];
      const detail = `cannot be shown on the screen "${slug}" by the box ${machineName}: ${reason.slice(0, MAX_SOURCE)}`;
      return [{ kind: 'fault', subject: slide.id, name: `The slide "${shownName(slide.title) || slide.id}"`, detail }];
    });
  };

  const own = (): Pick<BoxAlerts, 'failing' | 'live' | 'signedOut'> => {
    const failing: Failure[] = [];
    const { status } = content.status();
    if (status !== 'ok') failing.push({ kind: 'content', subject: nodeId, name: contentName, detail: contentDetail() });
    if (isLow) failing.push({ kind: 'storage', subject: nodeId, name: storageName });
    const listed = streams.list();
    for (const { key, source, state } of listed) {
      if (state === 'failing') failing.push({ kind: 'stream', subject: key, name: streamName(source, key) });
    }
    const live = listed.flatMap(({ key, state }) => (state === 'live' ? [key] : []));
    const out = signedOutSlides().slice(0, mostFailures);
    failing.push(
      ...failingSlides(
        listed,
        out.map(({ subject }) => subject),
      ),
    );
    return {
      failing: failing.slice(0, mostFailures),
      live: live.slice(0, mostFailures),
      ...(out.length > 0 && { signedOut: out }),
    };
  };

  /** The boxes whose version is being replaced, by id. */
  const updating = ({ records }: Pick<Outages, 'records'>): Set<string> => {
    const isUnderway = (at: string): boolean => {
      const left = Date.parse(at) - now();
      // The clocks of boxes differ; one that is further ahead is wrong.
      return left > 0 && left <= 2 * UPDATE_MS;
    };
    const updates = [...records.values()].filter(({ kind, at }) => kind === 'update' && isUnderway(at));
    return new Set(updates.map(({ subject }) => subject));
  };

  /** Ends the outages of what does not exist any more. @param known the keys of what does */
  const goneOf = (
    wanted: 'device' | 'slide' | 'fault',
    known: ReadonlySet<string>,
    { records, watched }: Pick<Outages, 'records' | 'watched'>,
  ): Condition[] => {
    const underway = [...records.values()].filter(({ isFailing }) => isFailing).map(keyOf);
    return [...new Set([...underway, ...watched.keys()])].flatMap((key): Condition[] => {
      const [kind, subject] = key.split(/ (.*)/s);
      if (kind !== wanted || subject === undefined || known.has(key)) return [];
      return [{ kind: wanted, subject, status: 'gone', message: '' }];
    });
  };

  const deviceConditions = (
    { records, watched }: Pick<Outages, 'records' | 'watched'>,
    silentBoxes: ReadonlySet<string>,
  ): Condition[] => {
    const statuses = devices.statuses();
    const isAnyMissing = statuses.some(({ status }) => status === 'missing');
    const lastBox = new Map(isAnyMissing ? devices.sightings().map(({ deviceId, nodeId: at }) => [deviceId, at]) : []);
    const awayBoxes = new Set(peers.all().flatMap(({ nodeId: id, alive }) => (alive || id === null ? [] : [id])));
    const conditions = statuses.flatMap(({ device, status }): Condition[] => {
      const { deviceId, clientName, screenSlug } = device;
      const name = `The device "${clientName}" (${deviceId}) of the screen "${screenSlug}"`;
      const condition = { kind: 'device', subject: deviceId } as const;
      if (status === 'connected') return [{ ...condition, status: 'ok', message: `${name} is back.` }];
      if (status === 'unknown') return [];
      const box = lastBox.get(deviceId) ?? '';
      const isSilent = status === 'closed' || silentBoxes.has(box);
      const cause = awayBoxes.has(box) ? ', and so is the box that it was connected to' : '';
      return [{ ...condition, status: isSilent ? 'silent' : 'failing', message: `${name} is away${cause}.` }];
    });
    const known = new Set(statuses.map(({ device }) => keyOf({ kind: 'device', subject: device.deviceId })));
    return [...conditions, ...goneOf('device', known, { records, watched })];
  };

  const boxConditions = (silentBoxes: ReadonlySet<string>): Condition[] => {
    // The others may have said that this box was away, and left the end of it to this one.
    const here: Condition = { kind: 'box', subject: nodeId, status: 'ok', message: `The box ${machineName} is back.` };
    const others = peers.all().flatMap(({ nodeId: id, url, alive, reason }): Condition[] => {
      // A box may have been known only by its address when it failed.
      const subjects = alive && id !== null ? [id, url] : [id ?? url];
      if (!alive && reason === null) return [];
      const message = alive ? `The box at ${url} is back.` : `The box at ${url} is away: it ${reason}.`;
      const status = alive ? 'ok' : silentBoxes.has(id ?? '') ? 'silent' : 'failing';
      return subjects.map((subject) => ({ kind: 'box', subject, status, message }));
    });
    return [here, ...others];
  };

  /** Failures that boxes report of themselves. A stream is live if it is live on a box and fails on none. */
  const failureConditions = (outages: Pick<Outages, 'records' | 'watched'>): Condition[] => {
    const boxes = [
      { id: nodeId, url: null, alerts: own() },
      ...peers.alive().flatMap(({ nodeId: id, url, state: { alerts } }) => (alerts ? [{ id, url, alerts }] : [])),
    ];
    const failures = boxes.flatMap(({ id, alerts: { failing: own, signedOut = [] } }): AnyFailure[] => [
      ...own.filter(isKnownFailure),
      ...signedOut.map(({ subject, name }) => ({ kind: 'slide' as const, subject: slideOn(subject, id), name })),
    ]);
    const failing = new Map(failures.map((each) => [keyOf(each), each]));
    const slides = content.sessionPages().map(({ slideId }) => slideId);
    const slidesOn = (id: string): AnyFailure[] =>
      slides.map((slide) => ({ kind: 'slide', subject: slideOn(slide, id), name: '' }));
    const known = [nodeId, ...peers.all().flatMap(({ nodeId: id }) => id ?? [])].flatMap(slidesOn);
    const working: AnyFailure[] = boxes.flatMap(({ id, url, alerts }): AnyFailure[] => [
      { kind: 'content', subject: id, name: url === null ? contentName : `content.json on the box at ${url}` },
      { kind: 'storage', subject: id, name: storageName },
      ...alerts.live.map((key): Failure => ({ kind: 'stream', subject: key, name: `The stream ${key}` })),
    ]);
    working.push(...boxes.flatMap(({ id }) => slidesOn(id)));
    // What a box reported that has not answered for a moment is not known to be over.
    const since = now() - options.alertGraceSeconds * 1000;
    const isAnyAway = peers
      .all()
      .some(({ alive, contactAt, isForeign }) => !alive && !isForeign && (contactAt ?? 0) > since);
    return [
      ...goneOf('slide', new Set([...known.map(keyOf), ...failing.keys()]), outages),
      ...(isAnyAway ? [] : goneOf('fault', new Set(failing.keys()), outages)),
      ...[...failing.values()].map((each) => failureCondition(each, 'failing')),
      ...working.filter((each) => !failing.has(keyOf(each))).map((each) => failureCondition(each, 'ok')),
    ];
  };

  /** Whether all screens of the site are closed. */
  const isClosed = (): boolean => {
    const time = now();
    const hours = content.screens().map(({ slug }) => content.hours(slug));
    return hours.length > 0 && hours.every((each) => each !== null && !isOpen(each, time, options.timeZone));
  };

  return {
    own,
    /** Sentences about the slides whose pages are signed out here. */
    signedOut: (): string[] => signedOutSlides().map(({ name }) => `${name} ${signedOut}.`),
    /** @param outages that were reported to receivers, and what may become one */
    conditions: (outages: Pick<Outages, 'records' | 'watched'>): Condition[] => {
      const silentBoxes = updating(outages);
      const conditions = [
        ...deviceConditions(outages, silentBoxes),
        ...boxConditions(silentBoxes),
        ...failureConditions(outages),
      ];
      return isClosed() ? conditions.map((each) => ({ ...each, status: 'silent' })) : conditions;
    },
    start: (): void => {
      void readDisk();
      timer = setInterval(() => void readDisk(), tempo.records.disk);
      timer.unref();
    },
    close: (): void => clearInterval(timer),
  };
};
