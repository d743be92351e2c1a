/** Refuses edits at a box that does not know all that plays: they would be judged, and written, without it. */
import type { Content } from '../content/index.ts';
import { CodedError } from '../contract/errors.ts';
import type { ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';

/** @throws CodedError `box_older`, which names a reachable box of a newer version, first the one that made the content */
export type RequireKnown = () => void;

export const createRequireKnown =
  (
    { version }: Pick<ServiceContext, 'version'>,
    { content, peers }: { content: Pick<Content, 'isWhole' | 'playing'>; peers: Pick<Peers, 'alive'> },
  ): RequireKnown =>
  () => {
    if (content.isWhole()) return;
    const newer = peers
      .alive()
      .filter(({ state }) => state.version.localeCompare(version, 'en', { numeric: true }) > 0);
    const author = content.playing()?.nodeId;
    const box = newer.find(({ nodeId }) => nodeId === author) ?? newer[0];
    throw new CodedError(
      'box_older',
      box && `This box is older than the content that plays: edit it at ${box.url} (version ${box.state.version}).`,
    );
  };
