/** `mcp`: tools for assistants. */
import type { Command } from 'commander';
import { parseJson } from '../answers.ts';
import { CliError, codeOf } from '../exit.ts';
import type { Session } from '../session.ts';

export const registerMcp = (program: Command, { out, stdin, client }: Session): void => {
  program
    .command('mcp')
    .description('serve tools to an assistant, by the Model Context Protocol on standard input and output')
    .option('--allow-draft', 'the assistant may save drafts')
    .option('--allow-write', "the assistant may change what displays show, if the person agrees; needs a person's key")
    .action(async ({ allowDraft, allowWrite }: { allowDraft?: true; allowWrite?: true }) => {
      const box = await client();
      /** Whether requests are those of a person; the secret is nobody's. */
      const isPerson = async (): Promise<boolean> => {
        try {
          const { body } = await box.bytes({ path: '/console/api/me', type: 'application/json' });
          const { person = null } = (parseJson(body) ?? {}) as { person?: unknown };
          return person !== null;
        } catch (error) {
          // A box that knows no people has no such path.
          if (error instanceof CliError && codeOf(error.answer) === 'not_found') return false;
          throw error;
        }
      };
      const mayWrite = allowWrite === true && (await isPerson());
      if (allowWrite && !mayWrite)
        out.warn(
          "Writing tools are not offered: they need the key of a person, see signage join; not the site's secret.",
        );
      const { serveMcp } = await import('../mcp/server.ts');
      const version = program.version() ?? '';
      out.useStream();
      await serveMcp({ version, box, mayDraft: allowDraft === true, mayWrite, stdin, stdout: out.stdout });
    });
};
