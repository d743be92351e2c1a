/** Which devices exist: an id is known once a page of the device has shown up with it, and never by being asked about. */
import type { Hub } from '../connections/hub.ts';
import type { Gather } from '../peers/gather.ts';
import { remember } from '../recent.ts';
import type { Devices } from '../store/devices.ts';
import { mostAskedDevices, mostBindings, peerDevices } from '../wire/peers.ts';
import { deviceKey } from '../wire/readable.ts';
import { deviceId as deviceIdSchema } from '../wire/terms.ts';
import type { Landing } from './landing.ts';

interface Dependencies {
  devices: Pick<Devices, 'get'>;
  hub: Pick<Hub, 'places'>;
  landing: Pick<Landing, 'has'>;
  gather: Gather;
  hasPeers(): boolean;
  /** ms, monotonic */
  steady(): number;
}

export interface Sightings {
  /** Records that a page of the device is here; what is no device id is ignored. */
  saw(deviceId: string): void;
  /** Whether this box has seen the device, or has a record of it. */
  isKnownHere(deviceId: string): boolean;
  /** The same for all boxes of the site; false where those that know it do not answer. */
  isKnown(deviceId: string): Promise<boolean>;
}

/** Peers are asked in rounds, at most one in this time, whatever number of clients asks. */
const ROUND_MS = 250;

interface Question {
  deviceId: string;
  answer: Promise<boolean>;
  resolve(isKnown: boolean): void;
}

const createQuestion = (deviceId: string): Question => {
  let resolve: Question['resolve'] = () => {};
  const answer = new Promise<boolean>((settle) => {
    resolve = settle;
  });
  return { deviceId, answer, resolve };
};

export const createSightings = ({ devices, hub, landing, gather, hasPeers, steady }: Dependencies): Sightings => {
  const seen = new Map<string, true>();
  /** What the next round asks, by device key. */
  let questions = new Map<string, Question>();
  let lastRoundAt = Number.NEGATIVE_INFINITY;

  const askPeers = async (): Promise<void> => {
    const asked = questions;
    questions = new Map();
    lastRoundAt = steady();
    const deviceIds = [...asked.values()].map(({ deviceId }) => encodeURIComponent(deviceId)).join(',');
    const { answers } = await gather({ path: `/api/peers/devices?deviceIds=${deviceIds}`, schema: peerDevices });
    const known = new Set(answers.flatMap((answer) => answer.known.map(deviceKey)));
    for (const [key, question] of asked) question.resolve(known.has(key));
  };

  const isKnownThere = (deviceId: string): Promise<boolean> | false => {
    const key = deviceKey(deviceId);
    const pending = questions.get(key);
    if (pending !== undefined) return pending.answer;
    if (!hasPeers() || questions.size >= mostAskedDevices) return false;
    const question = createQuestion(deviceId);
    if (questions.size === 0) setTimeout(() => void askPeers(), Math.max(0, lastRoundAt + ROUND_MS - steady()));
    questions.set(key, question);
    return question.answer;
  };

  const isKnownHere = (deviceId: string): boolean =>
    seen.has(deviceKey(deviceId)) ||
    devices.get(deviceId) !== undefined ||
    landing.has(deviceId) ||
    hub.places(deviceId).length > 0;

  return {
    saw: (deviceId) => {
      if (deviceIdSchema.safeParse(deviceId).success) remember(seen, deviceKey(deviceId), true, mostBindings);
    },
    isKnownHere,
    isKnown: async (deviceId) => isKnownHere(deviceId) || isKnownThere(deviceId),
  };
};
