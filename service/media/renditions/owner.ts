/** Which box of a site makes a rendition, so that each is made once. Pure. */

/** What a box says of an original. */
interface Holder {
  nodeId: string;
  /** Whether it took the upload. */
  isUpload: boolean;
  /** Whether it has the program and is allowed to. */
  isAble: boolean;
}

export interface OtherHolder extends Holder {
  state: 'queued' | 'converting' | 'ready' | 'failed';
}

export type Step = 'convert' | 'wait' | 'fetch' | 'fail' | 'lack';

/**
 * What this box does for an original that needs a rendition.
 * @param others boxes that answered and have the original
 * @param isOwnerAwaited whether the box that took the upload is unknown and may still answer
 * @returns `fail`: another box could not convert it; `lack`: no box has the program
 */
export const stepOf = (own: Holder, others: readonly OtherHolder[], isOwnerAwaited: boolean): Step => {
  if (others.some(({ state }) => state === 'ready')) return 'fetch';
  if (others.some(({ state }) => state === 'converting')) return 'wait';
  if (others.some(({ state }) => state === 'failed')) return 'fail';
  const able = [own, ...others].filter(({ isAble }) => isAble);
  const takers = able.filter(({ isUpload }) => isUpload);
  if (isOwnerAwaited) return 'wait';
  const [first] = (takers.length > 0 ? takers : able).map(({ nodeId }) => nodeId).sort();
  if (first === undefined) return 'lack';
  return first === own.nodeId ? 'convert' : 'wait';
};
