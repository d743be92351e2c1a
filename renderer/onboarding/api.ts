/** The calls of the onboarding form. */
import type { ConnectionSnapshot } from '../../service/contract/connections.ts';
import type {
  Binding,
  claimHeader,
  deviceKnownHeader,
  OnboardingNames,
  OnboardingResult,
  OnboardingScreens,
  OnboardingStatus,
} from '../../service/contract/onboarding.ts';
import type { zoneHeader } from '../../service/contract/playlist.ts';
import { isTokenRefused, type PageToken } from '../shared/page-token.ts';
import { patientFetch } from '../shared/retry.ts';

// Typed by the contract, but not imported, so that a phone does not load its schemas.
const knownHeader: typeof deviceKnownHeader = 'x-signage-device-known';
const codeHeader: typeof claimHeader = 'x-signage-claim';
const placeHeader: typeof zoneHeader = 'x-signage-time-zone';

interface Refusal {
  code: string;
  field?: string;
}

export const isRefusal = (error: unknown): error is Refusal => typeof (error as Refusal | undefined)?.code === 'string';

/** `isKnown`: whether any box of the site knows the device. */
export type Status = OnboardingStatus & { isKnown: boolean };

export type Api = ReturnType<typeof createApi>;

/** Each call rejects with a {@link Refusal}, or with another error if there was no response. */
export const createApi = (token: PageToken) => {
  const request = async (
    path: string,
    init: RequestInit = {},
    isRetry = false,
  ): Promise<{ headers: Headers; body: unknown }> => {
    const headers = { ...init.headers, ...token.header() };
    const { status, ...answer } = await patientFetch(`/api${path}`, { ...init, headers }, async (response) => ({
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as unknown,
    }));
    if (status < 400) return answer;
    if (isTokenRefused(status) && !isRetry) {
      await token.renew();
      return request(path, init, true);
    }
    const { error } = answer.body as { error: Refusal & { message: string } };
    throw Object.assign(new Error(error.message), error);
  };

  const call = async <Answer>(path: string, init?: RequestInit): Promise<Answer> =>
    (await request(path, init)).body as Answer;

  return {
    status: async (deviceId: string): Promise<Status> => {
      const { headers, body } = await request(`/onboarding/status?deviceId=${encodeURIComponent(deviceId)}`);
      return { ...(body as OnboardingStatus), isKnown: headers.get(knownHeader) !== 'false' };
    },
    screens: (): Promise<OnboardingScreens> => call('/onboarding/screens'),
    /** The names of other devices, connected or not. */
    names: (deviceId: string): Promise<OnboardingNames> =>
      call(`/onboarding/names?deviceId=${encodeURIComponent(deviceId)}`),
    players: (slug: string): Promise<ConnectionSnapshot> => call(`/screens/${slug}/connections`),
    /** @param claim the code that the display shows; null: not entered */
    bind: (binding: Binding, claim: string | null): Promise<OnboardingResult> =>
      call('/onboarding', {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          [placeHeader]: new Intl.DateTimeFormat().resolvedOptions().timeZone,
          ...(claim === null ? {} : { [codeHeader]: claim }),
        },
        body: JSON.stringify(binding),
      }),
  };
};
