import type { Binding } from '../../service/contract/onboarding.ts';
import type { Api, Status } from './api.ts';

const RETRY_MS = 1_000;

/**
 * Finds out whether a binding that got no answer was saved: asks until the player answers.
 * @param onAway called each time that it does not
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
