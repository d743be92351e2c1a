/** Onboarding: binding devices to screens. */
import { z } from 'zod';
import { screen } from './playlist.ts';
import { clientName, deviceId, instant, slug } from './terms.ts';

/** Request header of a device's own pages: the device id. It marks the id as known. */
export const deviceHeader = 'x-signage-device';
/** Header of the status response: `true` if a box of the site has seen a page of the device, or has a binding of it. */
export const deviceKnownHeader = 'x-signage-device-known';

/** Request header of a device's own pages: the proof that the page is the device, as `formatProof` of the domain writes it. */
export const deviceProofHeader = 'x-signage-device-proof';
/** Header of the answer to a request whose proof was not taken: what the page signs once more with, `NODEID;MS`. */
export const proofNeedsHeader = 'x-signage-device-proof-needs';
/** Claim code: of the status response to a page with a proof, and of the request that binds with a page token. */
export const claimHeader = 'x-signage-claim';

/** 10 characters of Crockford's base 32, as {@link canonicalClaim} returns them. */
export const claimCode = z
  .string()
  .regex(/^[0-9A-HJKMNP-TV-Z]{10}$/)
  .describe('claim code of a display');

export const deviceQuery = z.object({ deviceId });

/** Request that binds a device to a screen and sets its name. */
export const binding = z
  .object({
    deviceId,
    clientName,
    screenSlug: z.string().min(1).max(128).describe('slug of an existing screen'),
    updatedAt: instant
      .optional()
      .describe('read only from other boxes: when the device was bound; the newest binding wins'),
  })
  .meta({ id: 'Binding' });
export type Binding = z.infer<typeof binding>;

export const onboardingStatus = z
  .object({
    deviceId,
    onboarded: z.boolean().describe('true while the screen that the device is bound to exists'),
    clientName: z.string().nullable().describe('name that the device was given; null: none'),
    screenId: z.string().nullable().describe('id of the screen that the device is bound to'),
    screenSlug: slug.nullable().describe('slug of that screen'),
    screenName: z.string().nullable().describe('name of that screen'),
    playerUrl: z.string().nullable().describe('absolute'),
  })
  .meta({ id: 'OnboardingStatus' });
export type OnboardingStatus = z.infer<typeof onboardingStatus>;

export const onboardingScreens = z
  .object({ screens: z.array(screen).describe('all screens, in the order of the content') })
  .meta({ id: 'OnboardingScreens' });
export type OnboardingScreens = z.infer<typeof onboardingScreens>;

export const onboardingNames = z
  .object({ names: z.array(z.string()).describe('names of the other devices of the site, connected or not') })
  .meta({ id: 'OnboardingNames' });
export type OnboardingNames = z.infer<typeof onboardingNames>;

export const onboardingResult = z
  .object({
    deviceId,
    clientName: z.string().describe('name that the device was given'),
    screenId: z.string().describe('id of the screen that the device is bound to'),
    screenSlug: slug.describe('slug of that screen'),
    screenName: z.string().describe('name of that screen'),
    playerUrl: z.string().describe('absolute'),
    queued: z.boolean().describe('true if no live page of the device could be notified yet'),
  })
  .meta({ id: 'OnboardingResult' });
export type OnboardingResult = z.infer<typeof onboardingResult>;

/** What is wrong with the network that `kiosk.network` asks for; texts of the landing page have a sentence for each. */
export const networkFault = z
  .object({
    reason: z
      .enum(['password', 'missing', 'link', 'device', 'value'])
      .describe(
        'password: of the Wi-Fi; missing: no such Wi-Fi is there; link: none within 2 minutes; device: the box has none; value: not valid',
      ),
    subject: z.string().describe('the Wi-Fi, the device, or the field that it is about'),
  })
  .meta({
    id: 'NetworkFault',
    description: 'why the network is not as kiosk.network says; absent: it is, or nothing is said',
  });
export type NetworkFault = z.infer<typeof networkFault>;

export const hotspotShown = z
  .object({
    ssid: z.string().describe('its name'),
    password: z.string().describe('WPA2; another one each time'),
    code: z.string().describe('what a QR code says, by which a phone joins it'),
    address: z.string().describe('URL of the form, over this Wi-Fi'),
    joined: z.boolean().describe('whether a phone has joined'),
  })
  .meta({
    id: 'HotspotShown',
    description:
      'the Wi-Fi of the box itself, over which a phone sets the network of the house; only for pages on the box itself; absent: it is not open',
  });
export type HotspotShown = z.infer<typeof hotspotShown>;

const mediaProgress = z
  .object({
    here: z.int().describe('media files that this box has'),
    there: z.int().describe('media files that the content names and at least one box of the site has'),
  })
  .nullable()
  .describe('null: nothing to download');
export type MediaProgress = z.infer<typeof mediaProgress>;

export const statusMessage = onboardingStatus
  .extend({
    type: z.literal('status'),
    formUrl: z
      .string()
      .nullable()
      .describe('address of the onboarding form for another machine; null: no other machine can reach this box'),
    hasScreens: z.boolean().describe('whether there is a screen to choose'),
    media: mediaProgress,
    network: networkFault.optional(),
    hotspot: hotspotShown.optional(),
  })
  .meta({ id: 'Status', description: 'sent on connecting and on every change' });

export const openedMessage = z
  .object({ type: z.literal('opened') })
  .meta({ id: 'Opened', description: 'the onboarding form of this device was opened' });

/** What the service sends to a landing page. */
export type LandingMessage = z.infer<typeof statusMessage> | z.infer<typeof openedMessage>;
