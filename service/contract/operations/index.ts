/** All operations of the service. Only these can be mounted, and each of them must be. */
import { authority, trust } from './authority.ts';
import { drafts } from './drafts.ts';
import { editing } from './editing.ts';
import { health } from './health.ts';
import { machine } from './machine.ts';
import { copies, media, updates } from './media.ts';
import { onboarding } from './onboarding.ts';
import type { Operations } from './operation.ts';
import { frames, pages } from './pages.ts';
import { clock, peerBoxes } from './peer-boxes.ts';
import { peers } from './peers.ts';
import { people } from './people.ts';
import { records } from './records.ts';
import { screens } from './screens.ts';
import { secrets } from './secrets.ts';
import { site } from './site.ts';
import { sockets } from './sockets.ts';
import { streams } from './streams.ts';
import { triggers } from './triggers.ts';

export type { Access, Answer, AuditRule, FullRule, Operation, SocketOperation } from './operation.ts';
export { ruleOf } from './operation.ts';
export { sockets };

/** The operations by area, in the order of the document. */
export const areas = {
  Pages: { ...pages, ...trust },
  Screens: screens,
  Onboarding: onboarding,
  Media: media,
  Copies: copies,
  Frames: frames,
  Streams: streams,
  Editing: { ...editing, ...drafts },
  Health: health,
  Clock: clock,
  Peers: { ...peers, ...peerBoxes },
  Updates: updates,
  Site: { ...site, ...machine, ...authority },
  Triggers: triggers,
  Secrets: secrets,
  People: people,
  Records: records,
} as const satisfies Record<string, Operations>;

export const operations = {
  ...pages,
  ...trust,
  ...screens,
  ...onboarding,
  ...media,
  ...copies,
  ...frames,
  ...streams,
  ...editing,
  ...drafts,
  ...health,
  ...clock,
  ...peers,
  ...peerBoxes,
  ...updates,
  ...site,
  ...machine,
  ...triggers,
  ...secrets,
  ...authority,
  ...people,
  ...records,
} as const satisfies Operations;

export type OperationName = keyof typeof operations;
export type SocketName = keyof typeof sockets;
