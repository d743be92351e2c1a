/** How tools answer, and how many run at once. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { CliError, codeOf, type ExitName } from '../exit.ts';
import { visible } from '../text.ts';
import { untrusted } from './untrusted.ts';

/** Calls that run at once, and that wait; an assistant may ask for everything at once. */
const AT_ONCE = 4;
const MAX_WAITING = 32;
const MAX_REASON = 2_000;

/** Ends a call with a sentence of this program. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/** @param own what this program says itself; @param theirs texts of others */
export const answer = (own: Record<string, unknown>, theirs: unknown): CallToolResult => {
  const { value, isCut } = untrusted(theirs);
  const structuredContent = { ...own, is_cut: isCut, untrusted: value };
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
};

const failure = (reason: string): CallToolResult => ({
  content: [{ type: 'text', text: visible(reason).slice(0, MAX_REASON) }],
  isError: true,
});

/** What errors of requests mean, in words of this program. */
const sentences: Partial<Record<ExitName, string>> = {
  unreachable: 'The box was not reached',
  notAuthorised: 'The box does not allow this',
  notFound: 'The box does not have this',
};

/** What a box says may hold texts of others, such as ids and titles. */
const failed = (error: unknown): CallToolResult => {
  if (error instanceof ToolError) return failure(error.message);
  const code = error instanceof CliError ? codeOf(error.answer) : '';
  const what = error instanceof CliError ? (sentences[error.exit] ?? 'The box refused this') : 'signage has a fault';
  const sentence = `${what}${code === '' ? '' : ` (${code})`}.`;
  const { content, structuredContent } = answer({ error: sentence, code }, { reason: (error as Error).message });
  return { content: [...failure(sentence).content, ...content], structuredContent, isError: true };
};

export type Work<Input> = (input: Input) => Promise<CallToolResult>;

/** Runs the work of tools, a few at once; what fails is told to the assistant. */
export const createCalls = () => {
  let running = 0;
  const waiting: (() => void)[] = [];
  const enter = async (): Promise<void> => {
    if (running >= AT_ONCE) {
      if (waiting.length >= MAX_WAITING) throw new ToolError('Too many calls wait; ask for less at once.');
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    running += 1;
  };
  const leave = (): void => {
    running -= 1;
    waiting.shift()?.();
  };
  return <Input>(work: Work<Input>): Work<Input> =>
    async (input) => {
      try {
        await enter();
      } catch (error) {
        return failed(error);
      }
      try {
        return await work(input);
      } catch (error) {
        return failed(error);
      } finally {
        leave();
      }
    };
};
export type Calls = ReturnType<typeof createCalls>;
