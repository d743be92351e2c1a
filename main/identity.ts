import { createHash } from 'node:crypto';
import { readableId } from './service-host.ts';

/** The box's device id, made of its node id: as lasting, and such that a person can read it off the screen and type it. */
export const boxIdOf = (nodeId: string): string =>
  readableId(createHash('sha256').update(nodeId).digest().subarray(0, 12));
