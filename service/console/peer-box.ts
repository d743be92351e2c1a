/** Requests to one other box, for a client that named it. */
import { CodedError, type ErrorCode } from '../contract/errors.ts';
import type { Peer, PeerAnswer, Peers } from '../peers/index.ts';

/** @throws CodedError `box_not_found` */
export const findPeer = (peers: Pick<Peers, 'find'>, box: string): Peer => {
  const peer = peers.find(box);
  if (peer === undefined) throw new CodedError('box_not_found');
  return peer;
};

/**
 * The answer of another box.
 * @param passed codes of that box's errors that the client gets
 * @throws CodedError with one of these codes, else `box_away`
 */
export const answerOf = <T>(answer: PeerAnswer<T>, ...passed: readonly ErrorCode[]): T => {
  if (answer.ok) return answer.body;
  const code = passed.find((each) => each === answer.code);
  throw code === undefined ? new CodedError('box_away', `The box ${answer.reason}.`) : new CodedError(code);
};
