/** Runs the commands that operators send to this page. */
import type { Command } from '../../service/contract/commands.ts';
import { redirectTarget } from '../../service/domain/redirect.ts';
import { type Identity, rememberName } from '../shared/identity.ts';
import { leaveFor } from '../shared/retry.ts';
import type { Link, Report } from './link.ts';
import type { Player } from './player.ts';
import type { Redirect } from './redirect.ts';

interface Dependencies {
  player: Pick<Player, 'retry' | 'step' | 'flipPage'>;
  link: Pick<Link, 'refresh' | 'reportError'>;
  redirect: Pick<Redirect, 'show'>;
  identity: Identity;
  state: Readonly<Report>;
  /** Updates the state, and reports it. */
  change(changed: Partial<Report>): void;
}

/** Validates the address like the service does. */
const goTo = async (url: string, { redirect, change }: Dependencies): Promise<void> => {
  const target = redirectTarget(url, ({ origin }) => origin === location.origin);
  if (target === null) throw new Error(`${url} is no page that a screen can show`);
  if (target.kind === 'media' || target.kind === 'external') {
    if (await redirect.show(target.url)) change({ page: target.url });
  } else if (!(await leaveFor(target.url)))
    throw new Error(`${target.url} cannot be reached, or there is no such screen`);
};

export const runCommand = (command: Command, dependencies: Dependencies): void => {
  const { player, link, identity, state, change } = dependencies;
  switch (command.command) {
    case 'refresh':
      player.retry();
      return link.refresh();
    case 'reload':
      return void leaveFor(location.href);
    case 'pause':
      return change({ paused: !state.paused });
    case 'blackout':
      return change({ blackout: command.blackout ?? !state.blackout });
    case 'previous':
      return player.step(-1);
    case 'next':
      return player.step(1);
    case 'left':
      return player.flipPage(-1);
    case 'right':
      return player.flipPage(1);
    case 'redirect':
      return void goTo(command.url, dependencies).catch((error: Error) => link.reportError(null, error.message));
    case 'setclientname':
      identity.clientName = command.clientName;
      return rememberName(command.clientName);
  }
};
