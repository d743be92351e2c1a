import { seal } from '../../service/platform/store/envelope.ts';

/** A state file of the service with this body. @param savedAt ms since the epoch */
export const sealed = (body: unknown, seq: number, savedAt: number): Buffer => seal(JSON.stringify(body), seq, savedAt);
