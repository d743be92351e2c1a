/** `fleet credentials`: creates the credentials of a site for the hub. */
import { existsSync, readFileSync } from 'node:fs';
import { chmod, chown, rename, rm, stat, writeFile } from 'node:fs/promises';
import { Argument, type Command, Option } from 'commander';
import { leafUrl, siteName } from '../arguments.ts';
import { CliError } from '../exit.ts';
import type { Session } from '../session.ts';
import { visible } from '../text.ts';

interface CredentialOptions {
  output: string;
  users?: string;
  leaf?: URL;
  accountKey?: string;
}

export const registerFleetCredentials = (group: Command, out: Session['out']): void => {
  group
    .command('credentials')
    .description('make a key for a site, which may use the subjects of that site alone')
    .addArgument(new Argument('<site>', 'name of the site').argParser(siteName))
    .requiredOption(
      '-o, --output <file>',
      'for the site: SIGNAGE_FLEET_CREDENTIALS of its boxes, which must not exist yet',
    )
    .option('--users <file>', 'list of users of the hub, to which the site is added, or whose key is replaced')
    .addOption(
      new Option('--leaf <url>', 'write the configuration of a leaf node instead, which connects to the hub here')
        .argParser(leafUrl)
        .conflicts('accountKey'),
    )
    .addOption(
      new Option(
        '--account-key <file>',
        'seed of the account that signs the key; the hub then needs nothing',
      ).conflicts('users'),
    )
    .action(async (site: string, { output, users, leaf, accountKey }: CredentialOptions) => {
      const { provideCrypto } = await import('../fleet/connect.ts');
      provideCrypto();
      const { createCredentials, createLeaf, withUser } = await import('../fleet/credentials.ts');
      const naming = <Result>(file: string | undefined, make: () => Result): Result => {
        try {
          return make();
        } catch (error) {
          throw new CliError('usage', `${visible(file ?? '')}: ${(error as Error).message}.`);
        }
      };
      const { file, user } = naming(accountKey, () => {
        const seed = accountKey === undefined ? null : readFileSync(accountKey, 'utf8').trim();
        return leaf === undefined ? createCredentials(site, seed) : createLeaf(site, leaf);
      });
      const config = user && `# ${site}\n${JSON.stringify(user, null, 2)}`;
      const list = naming(users, () =>
        users === undefined || user === null
          ? null
          : withUser(existsSync(users) ? readFileSync(users, 'utf8') : 'users: [\n]\n', site, user),
      );
      const refusing = (path: string, writing: Promise<void>): Promise<void> =>
        writing.catch((error: NodeJS.ErrnoException) => {
          const why =
            error.code === 'EEXIST' ? 'exists already; name another file' : `cannot be written (${error.code})`;
          throw new CliError('usage', `${visible(path)} ${why}.`);
        });
      await refusing(output, writeFile(output, file, { mode: 0o600, flag: 'wx' }));
      if (users !== undefined && list !== null) {
        await refusing(users, replace(users, list)).catch(async (error: unknown) => {
          await rm(output, { force: true });
          throw error;
        });
      }
      out.answer({ site, file: output, config }, () => {
        if (config !== null && users === undefined) out.line(config);
        out.say(`${visible(output)} is for ${site}. ${nextStep(config !== null, users)}`.trim());
      });
    });
};

/** Replaces a file as a whole, also if the disk is full: the hub reads all of its users, as the same account. */
const replace = async (path: string, text: string): Promise<void> => {
  const temporary = `${path}.new`;
  const before = existsSync(path) ? await stat(path) : null;
  try {
    await writeFile(temporary, text, { mode: 0o640, flush: true });
    if (before !== null) {
      await chmod(temporary, before.mode);
      await chown(temporary, before.uid, before.gid);
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
};

/** The next steps for the operator. @param users the file that has the key already */
const nextStep = (needsHub: boolean, users: string | undefined): string => {
  if (!needsHub) return '';
  return users === undefined
    ? 'Add what is printed above to the users of the hub, then reload the hub.'
    : `Its user is in ${visible(users)}. Copy the file to the site, then reload the hub.`;
};
