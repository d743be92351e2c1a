/** `ca`: the root certificate of the site, which people install. */
import { Argument, type Command } from 'commander';
import type { SiteRoot } from '../../contract/authority.ts';
import type { Session } from '../session.ts';
import { visible } from '../text.ts';

export const registerAuthority = (program: Command, { out, client, confirm }: Session): void => {
  program
    .command('ca')
    .description('show the root certificate of the site, or replace it after a theft')
    .addArgument(new Argument('[action]', 'renew: a new root replaces it on all boxes').choices(['renew']))
    .option('--yes', 'do not ask')
    .action(async (action: 'renew' | undefined, { yes }: { yes?: true }) => {
      if (action === 'renew') await confirm('Replace the root certificate that people have installed?', yes);
      const box = await client();
      const { body } = await box.ask<SiteRoot>(
        action === 'renew' ? { method: 'POST', path: '/console/api/ca/renew' } : { path: '/console/api/ca' },
      );
      const { fingerprint, not_before, not_after, replaced } = body;
      out.answer(body, () =>
        out.fields([
          ['SHA-256', visible(fingerprint)],
          ['from', visible(not_before)],
          ['until', visible(not_after)],
          ['replaced', String(replaced)],
          ['install it', `${box.base.origin}/trust`],
        ]),
      );
      if (action === 'renew')
        out.say('People must remove the old root from their devices, and install this one after comparing it.');
    });
};
