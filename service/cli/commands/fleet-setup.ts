/** `fleet hub`, `init`, `credentials` and `revoke`: the hub and the accounts of its sites. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Argument, type Command, InvalidArgumentError } from 'commander';
import { listensAlone } from '../../domain/network-scope.ts';
import { leafUrl, listenAddress, siteName } from '../arguments.ts';
import { CliError } from '../exit.ts';
import type { Session } from '../session.ts';
import { plural, visible } from '../text.ts';

const count = (value: string): number => {
  if (!/^[1-5]$/.test(value)) throw new InvalidArgumentError('It must be 1 to 5.');
  return Number(value);
};

interface HubOptions {
  listen: string;
  cert?: string;
  key?: string;
  leafListen?: string;
}

const keysOption = ['--keys <folder>', 'the keys of the hub: the folder "keys" that fleet hub has made'] as const;

export const registerFleetSetup = (group: Command, { out, withHub, withSystem }: Session): void => {
  group
    .command('hub')
    .description('make the keys and the configuration of a hub, without a server')
    .argument('<folder>', 'for its files; the keys of an existing one stay')
    .option('--listen <address>', 'where nats-server listens', listenAddress, '0.0.0.0:4222')
    .option('--cert <file>', 'certificate (PEM), for tls://')
    .option('--key <file>', 'its key')
    .option('--leaf-listen <address>', 'where it listens for leaf nodes', listenAddress)
    .action(async (given: string, { listen, cert, key, leafListen }: HubOptions) => {
      if ((cert === undefined) !== (key === undefined)) throw new CliError('usage', 'Name both --cert and --key.');
      for (const file of [cert, key]) {
        if (file !== undefined && !existsSync(file))
          throw new CliError('usage', `${visible(file)}: There is no such file.`);
      }
      const { provideCrypto } = await import('../fleet/connect.ts');
      provideCrypto();
      const { writeHub } = await import('../fleet/hub-files.ts');
      const folder = resolve(given);
      const tls = cert === undefined || key === undefined ? null : { cert: resolve(cert), key: resolve(key) };
      const write = () => {
        try {
          return writeHub(folder, { listen, leafListen: leafListen ?? null, tls });
        } catch (error) {
          if (error instanceof CliError) throw error;
          throw new CliError(
            'usage',
            `${visible(folder)} cannot be written (${(error as NodeJS.ErrnoException).code}).`,
          );
        }
      };
      const { sites } = write();
      out.answer({ folder, sites }, () => {
        out.line(`${folder}/nats-server.conf`);
        if (sites > 0) out.say(`The accounts of ${plural(sites, 'site')} were written again.`);
        out.say('Start nats-server with it, then run: signage fleet init');
      });
      if (tls === null && !listensAlone(listen.slice(0, listen.lastIndexOf(':')))) {
        out.warn('Without --cert and --key every host on the way reads what sites and hub send.');
      }
    });

  group
    .command('init')
    .description('create the missing buckets and streams of the hub, and repair the settings of others')
    .option('--replicas <n>', 'servers of a cluster that keep each of them', count)
    .action(async ({ replicas }: { replicas?: number }) => {
      const { made, repaired } = await withHub((hub) => hub.init(replicas ?? null));
      out.answer({ made, repaired }, () => {
        for (const name of [...made, ...repaired]) out.line(name);
        const is = made.length + repaired.length === 0;
        out.say(
          is ? 'All buckets and streams are as they should be.' : `Made ${made.length}, repaired ${repaired.length}.`,
        );
      });
    });

  const siteArgument = (): Argument => new Argument('<site>', 'name of the site').argParser(siteName);

  group
    .command('credentials')
    .description('make the account of a site and a key for its boxes, or a new key in place of the one before')
    .addArgument(siteArgument())
    .requiredOption(
      '-o, --output <file>',
      'for the site: SIGNAGE_FLEET_CREDENTIALS of its boxes; an older one is replaced',
    )
    .requiredOption(...keysOption)
    .option('--leaf <url>', 'where the hub takes leaf nodes: write also FILE.leaf.conf and FILE.leaf.creds', leafUrl)
    .action(async (site: string, { output, keys: folder, leaf }: { output: string; keys: string; leaf?: URL }) => {
      const files = await withSystem(resolve(folder), async (nats, keys) => {
        const { renewSite } = await import('../fleet/site-credentials.ts');
        const leafUrl = leaf === undefined ? null : leaf.href.replace(/\/$/, '');
        return renewSite(nats, { site, keys, keysFolder: resolve(folder), output: resolve(output), leafUrl });
      });
      out.answer({ site, files }, () => {
        for (const file of files) out.line(file);
        out.say(`They are for ${site}; an older key is revoked.`);
      });
    });

  group
    .command('revoke')
    .description('delete the account of a site: its boxes are disconnected, and play on')
    .addArgument(siteArgument())
    .requiredOption(...keysOption)
    .action(async (site: string, { keys: folder }: { keys: string }) => {
      const { isRevoked, office } = await withSystem(resolve(folder), async (nats, keys) => {
        const { headOfficeCredentials, revokeSite } = await import('../fleet/site-credentials.ts');
        return { isRevoked: await revokeSite(nats, keys, resolve(folder), site), office: headOfficeCredentials(keys) };
      });
      // Also of one whose account went before, where that was interrupted.
      await withHub((hub) => hub.forget(site), office);
      if (!isRevoked) throw new CliError('notFound', `There is no site ${site} in ${visible(resolve(folder))}.`);
      out.answer({ site }, () => out.say(`The account of ${site} is deleted.`));
    });
};
