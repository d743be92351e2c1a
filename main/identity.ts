import { createHash } from 'node:crypto';
import { readableId } from '../service/public.ts';

/** The device id of the box, derived from its node id: as stable, and short enough to read off a display and type. */
export const boxIdOf = (nodeId: string): string =>
  readableId(createHash('sha256').update(nodeId).digest().subarray(0, 12));
