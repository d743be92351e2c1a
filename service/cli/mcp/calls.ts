/** How tools answer, and how many run at once. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { CliError } from '../exit.ts';
import { visible } from '../text.ts';
import { untrusted } from './untrusted.ts';

/** Calls that run at once, and that wait; an assistant may ask for everything at once. */
const AT_ONCE = 4;
const MAX_WAITING = 32;
const MAX_REASON = 2_000;

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

export type Work<Input> = (input: Input) => Promise<CallToolResult>;

/** Runs the work of tools, a few at once; what fails is told to the assistant. */
export const createCalls = () => {
  let running = 0;
  const waiting: (() => void)[] = [];
  const enter = async (): Promise<void> => {
    if (running >= AT_ONCE) {
      if (waiting.length >= MAX_WAITING) throw new CliError('refused', 'Too many calls wait; ask for less at once.');
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
        return failure((error as Error).message);
      }
      try {
        return await work(input);
      } catch (error) {
        return failure(error instanceof CliError ? error.message : `signage has a fault: ${(error as Error).message}`);
      } finally {
        leave();
      }
    };
};
export type Calls = ReturnType<typeof createCalls>;
