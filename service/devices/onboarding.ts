/** Which screen a device plays: reports its status, binds it, and notifies its pages. */
import type { Content } from '../content/index.ts';
import { CodedError } from '../contract/errors.ts';
import type { Binding, OnboardingResult, OnboardingStatus } from '../contract/onboarding.ts';
import type { BindingNews } from '../contract/peers.ts';
import type { Screen } from '../contract/playlist.ts';
import type { Peers } from '../peers/index.ts';
import type { SourceLog } from '../platform/source-log.ts';
import type { Screens } from '../screens/index.ts';
import type { Claims } from './claims.ts';
import type { KnownDevices } from './known-devices.ts';
import type { Landing } from './landing.ts';
import type { PendingDevices } from './pending.ts';
import type { DeviceProofs } from './proofs.ts';
import type { StoredDevices } from './store.ts';

interface Dependencies {
  devices: Pick<StoredDevices, 'get' | 'bind' | 'forget'>;
  /** Those without a live page, or without their screen here, when they were bound. The next page that connects is moved. */
  pending: PendingDevices;
  proofs: Pick<DeviceProofs, 'mustProve'>;
  claims: Pick<Claims, 'end'>;
  content: Pick<Content, 'payload'>;
  screens: Pick<Screens, 'deviceIds' | 'locationsOf' | 'onHello' | 'onJoin' | 'rename' | 'send' | 'whenHeard'>;
  landing: Pick<Landing, 'notify'>;
  knownDevices: Pick<KnownDevices, 'saw'>;
  peers: Pick<Peers, 'broadcast'>;
}

export type Onboarding = ReturnType<typeof createOnboarding>;

const pathOf = (slug: string): string => `/screen/${slug}`;

const placed = ({ id, slug, name }: Screen, base: string) => ({
  screenId: id,
  screenSlug: slug,
  screenName: name,
  playerUrl: base + pathOf(slug),
});

export const createOnboarding = ({
  devices,
  pending,
  proofs,
  claims,
  content,
  screens,
  landing,
  knownDevices,
  peers,
}: Dependencies) => {
  screens.onHello((deviceId) => knownDevices.saw(deviceId));

  /** Whether a page has to prove that it is the device. */
  const needsProof = (deviceId: string): boolean => proofs.mustProve(deviceId) || pending.needsProof(deviceId);

  const move = (connectionIds: readonly string[], slug: string): number =>
    screens.send(connectionIds, { type: 'command', command: 'redirect', url: pathOf(slug) });

  /** Names the device to its live pages. @param isProofNeeded whether only to those that have proved to be the device */
  const name = (deviceId: string, clientName: string, isProofNeeded: boolean) => {
    const locations = screens.locationsOf(deviceId).filter(({ proven }) => proven || !isProofNeeded);
    screens.rename(deviceId, clientName);
    const ids = locations.map(({ connectionId }) => connectionId);
    const sent = screens.send(ids, { type: 'command', command: 'setclientname', clientName, deviceId });
    return { locations, sent };
  };

  /**
   * Sends the binding to the live pages. The device is pending until one of its player pages has responded: the socket of a
   * page that has lost its power stays open for some time.
   * @param isProofNeeded whether only a page that has proved to be the device gets it and counts
   * @returns whether there were any, and whether the device is sure to know it, which one that has to prove itself is not yet
   */
  const deliver = ({ deviceId, clientName, screenSlug }: Binding, isProofNeeded: boolean) => {
    const { locations, sent } = name(deviceId, clientName, isProofNeeded);
    const elsewhere = locations.filter(({ slug }) => slug !== screenSlug);
    move(
      elsewhere.map(({ connectionId }) => connectionId),
      screenSlug,
    );
    for (const { connectionId, proven } of locations) {
      screens.whenHeard(connectionId, () => pending.take(deviceId, proven));
    }
    const landed = landing.notify(deviceId, isProofNeeded);
    return { isDelivered: landed + sent > 0, isKnown: !isProofNeeded && landed > 0 };
  };

  /** A screen may reach this box after a binding to it: until then a page would refuse to go there. */
  const isHere = (slug: string): boolean => content.payload(slug) !== undefined;

  screens.onJoin(({ connectionId, deviceId, slug, proven }) => {
    const bound = devices.get(deviceId)?.screenSlug ?? slug;
    if (!isHere(bound) || !pending.take(deviceId, proven)) return;
    if (bound !== slug) move([connectionId], bound);
  });

  return {
    /**
     * A device is onboarded while the screen that it is bound to exists. While the screen is missing the binding is kept,
     * and applies again when the screen is back.
     * @param base the public base URL that `playerUrl` begins with
     */
    status: (deviceId: string, base: string): OnboardingStatus => {
      const device = devices.get(deviceId);
      const screen = content.payload(device?.screenSlug ?? '')?.screen;
      return {
        deviceId,
        onboarded: screen !== undefined,
        clientName: device?.clientName ?? null,
        ...(screen === undefined
          ? { screenId: null, screenSlug: null, screenName: null, playerUrl: null }
          : placed(screen, base)),
      };
    },
    /**
     * Binds a device, replaces its previous binding, and notifies its live pages on every box. Resolves once the binding is
     * durable here.
     * @param relayed whether another box relayed the request: then only the pages of this box are notified
     * @throws CodedError `screen_not_found`, or `insufficient_storage`
     */
    bind: async (binding: Binding, base: string, relayed: boolean, log: SourceLog): Promise<OnboardingResult> => {
      const { deviceId, clientName, screenSlug } = binding;
      const screen = content.payload(screenSlug)?.screen;
      const isKept = screen !== undefined || (relayed && binding.updatedAt !== undefined);
      const at = relayed ? binding.updatedAt : undefined;
      // A new binding drops the key of some devices.
      const isProofNeeded = needsProof(deviceId);
      const stored = isKept ? await devices.bind(deviceId, clientName, screenSlug, at) : null;
      if (stored !== null) claims.end(deviceId);
      const updatedAt = stored?.updatedAt;
      if (screen === undefined) {
        if (updatedAt !== undefined && updatedAt === at) await pending.add(deviceId, isProofNeeded);
        throw new CodedError('screen_not_found', undefined, { field: 'screenSlug' });
      }
      const relaying = relayed ? null : peers.broadcast('devices.bind', { ...binding, updatedAt });
      const isOutdated = at !== undefined && updatedAt !== at;
      const { isDelivered, isKnown } = isOutdated
        ? { isDelivered: false, isKnown: true }
        : deliver(binding, isProofNeeded);
      // Before the await: the page may connect while the peers are being called.
      const saving = isKnown ? null : pending.add(deviceId, isProofNeeded);
      const there = await relaying;
      const isKnownThere = there?.answers.some((answer) => !answer.queued) === true;
      const queued = !isDelivered && !isKnownThere;
      // A page of another box may have proved nothing.
      if ((isDelivered && isKnown) || (isKnownThere && !isProofNeeded)) pending.remove(deviceId);
      await saving;
      log.info({ deviceId, clientName, slug: screenSlug, queued }, 'a device was bound');
      return { deviceId, clientName, ...placed(screen, base), queued };
    },
    /** Forgets a device on all boxes; one that does not answer is updated later. @throws CodedError `insufficient_storage` */
    forget: async (deviceId: string, log: SourceLog): Promise<void> => {
      const record = await devices.forget(deviceId);
      pending.remove(deviceId);
      landing.notify(deviceId);
      await peers.broadcast('bindings.send', [record]);
      log.info({ deviceId }, 'a device was forgotten');
    },
    /** Notifies the live pages of devices of bindings from another box, which are stored already. */
    follow: (news: readonly BindingNews[]): void => {
      for (const { binding, before } of news) {
        const { deviceId, clientName, screenSlug, forgotten } = binding;
        if (screenSlug !== null) claims.end(deviceId);
        const isProofNeeded = needsProof(deviceId) || proofs.mustProve(deviceId, before);
        if (forgotten) landing.notify(deviceId);
        else if (screenSlug === null || screenSlug === before?.screenSlug) name(deviceId, clientName, isProofNeeded);
        else if (!isHere(screenSlug)) {
          name(deviceId, clientName, isProofNeeded);
          void pending.add(deviceId, isProofNeeded);
        } else {
          const { isKnown } = deliver({ deviceId, clientName, screenSlug }, isProofNeeded);
          if (isKnown) pending.remove(deviceId);
          else void pending.add(deviceId, isProofNeeded);
        }
      }
    },
    /** Moves the pages of pending devices whose screens have reached this box. */
    screensChanged: (): void => {
      for (const deviceId of [...screens.deviceIds()].filter(pending.has)) {
        const { clientName = '', screenSlug = null } = devices.get(deviceId) ?? {};
        const isElsewhere = screens.locationsOf(deviceId).some(({ slug }) => slug !== screenSlug);
        if (screenSlug === null || !isElsewhere || !isHere(screenSlug)) continue;
        deliver({ deviceId, clientName, screenSlug }, pending.needsProof(deviceId));
      }
    },
    /** Records that a page that says to be the device, without a proof, has received its binding. */
    caughtUp: (deviceId: string): void => {
      knownDevices.saw(deviceId);
      if (!needsProof(deviceId)) pending.take(deviceId, false);
    },
  };
};
