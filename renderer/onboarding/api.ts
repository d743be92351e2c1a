/** The calls of the onboarding form. */
import type { ConnectionSnapshot } from '../../service/wire/connections.ts';
import type { Binding, OnboardingResult, OnboardingScreens, OnboardingStatus } from '../../service/wire/onboarding.ts';
import type { PageToken } from '../shared/page-token.ts';
import { patientFetch } from '../shared/patience.ts';

/** An answer that is an error. */
export interface Refusal {
  code: string;
  field?: string;
}

export const isRefusal = (error: unknown): error is Refusal => typeof (error as Refusal | undefined)?.code === 'string';

export interface Api {
  status(deviceId: string): Promise<OnboardingStatus>;
  screens(): Promise<OnboardingScreens>;
  /** The players that show a screen. */
  players(slug: string): Promise<ConnectionSnapshot>;
  bind(binding: Binding): Promise<OnboardingResult>;
}

/** Each call rejects with a {@link Refusal}, or with something else where there was no answer. */
export const createApi = (token: PageToken): Api => {
  const call = async <Answer>(path: string, init: RequestInit = {}, isRetry = false): Promise<Answer> => {
    const headers = { ...init.headers, ...token.header() };
    const { status, body } = await patientFetch(`/api${path}`, { ...init, headers }, async (response) => ({
      status: response.status,
      body: (await response.json()) as unknown,
    }));
    if (status < 400) return body as Answer;
    if (status === 401 && !isRetry) {
      await token.renew();
      return call(path, init, true);
    }
    const { error } = body as { error: Refusal & { message: string } };
    throw Object.assign(new Error(error.message), error);
  };

  return {
    status: (deviceId) => call(`/onboarding/status?deviceId=${encodeURIComponent(deviceId)}`),
    screens: () => call('/onboarding/screens'),
    players: (slug) => call(`/screens/${slug}/connections`),
    bind: (binding) =>
      call('/onboarding', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(binding),
      }),
  };
};
