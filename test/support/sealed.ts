import { atOnce } from '../../service/platform/slices.ts';
import { sealSteps } from '../../service/platform/store/envelope.ts';

/** A state file of the service with this body. @param savedAt ms since the epoch */
export const sealed = (body: unknown, seq: number, savedAt: number): Buffer => atOnce(sealSteps(body, seq, savedAt));
