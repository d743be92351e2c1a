import type { Binding } from '../../service/contract/onboarding.ts';
import type { Api, Status } from './api.ts';

const RETRY_MS = 1_000;

/**
 * Finds out whether a binding without a response was saved: repeats the request until the player responds.
 * @param onAway called after each failure
 */
export const findOutcome = async (
  api: Pick<Api, 'status'>,
  { deviceId, clientName, screenSlug }: Binding,
  onAway: () => void,
): Promise<{ isSaved: boolean; status: Status }> => {
  for (;;) {
    const status = await api.status(deviceId).catch(onAway);
    if (status) {
      return { isSaved: status.screenSlug === screenSlug && status.clientName === clientName, status };
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
};
