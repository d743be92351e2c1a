/** Reads plays as they arrive: a line each, so that 300,000 of them need not be in memory. */
import type { CountedPlay } from '../model/figures.ts';

/** @throws SyntaxError if the answer is cut off */
export const readPlays = async (
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  onPlay: (play: CountedPlay) => void,
  onProgress: (count: number) => void,
): Promise<void> => {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>, { signal })
    .getReader();
  let rest = '';
  let count = 0;
  let isComplete = false;
  const take = (line: string): void => {
    const text = line
      .replace(/^\[(?=.)/, '')
      .replace(/,$/, '')
      .trim();
    if (text === ']' || text === '[]' || text === ']]') isComplete = true;
    if (!text.startsWith('{')) return;
    onPlay(JSON.parse(text) as CountedPlay);
    count += 1;
  };
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
    onProgress(count);
  }
  take(rest);
  if (!isComplete) throw new SyntaxError('the answer was cut off');
};
