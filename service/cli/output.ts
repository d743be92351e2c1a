/** The output of a run: data to standard output, messages to standard error. */
import type { Writable } from 'node:stream';
import { columns, fitted, padded, safeJson, visible, visibleLines } from './text.ts';

/** A stream that may be a terminal. */
export type Sink = Writable & { isTTY?: boolean; columns?: number; rows?: number };

interface Options {
  stdout: Sink;
  stderr: Sink;
  env: Readonly<NodeJS.ProcessEnv>;
}

/** Select Graphic Rendition parameters (ECMA-48, 8.3.117). */
const styles = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const;
export type Style = keyof typeof styles;

export const createOutput = ({ stdout, stderr, env }: Options) => {
  const hasColours = (sink: Sink): boolean =>
    sink.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  const paint = (sink: Sink, style: Style, text: string): string =>
    hasColours(sink) ? `\x1b[${styles[style]}m${text}\x1b[0m` : text;
  let isJson = false;
  let hasData = false;
  let isStream = false;

  /** Prints a line whose controls are our own. */
  const painted = (text: string): void => {
    hasData = true;
    stdout.write(`${text}\n`);
  };
  /** Whatever a line consists of, a terminal shows it. */
  const line = (text: string): void => painted(visibleLines(text));
  const say = (text: string): void => void stderr.write(`${visible(text)}\n`);
  const headed = (style: Style, head: string, text: string): void =>
    void stderr.write(`${paint(stderr, style, head)} ${visibleLines(text)}\n`);

  return {
    stdout,
    stderr,
    /** Prints answers as JSON from now on. */
    useJson: (): void => {
      isJson = true;
    },
    isJson: (): boolean => isJson,
    /** Whether anything was printed that is data. */
    hasData: (): boolean => hasData,
    /** For data that a caller writes to `stdout` as it arrives. */
    noteData: (): void => {
      hasData = true;
    },
    /** From now on the run is of use as long as somebody reads `stdout`. */
    useStream: (): void => {
      isStream = true;
    },
    isStream: (): boolean => isStream,
    /** Prints data; line ends that a text by others has are written out by the caller, or by {@link columns}. */
    line,
    json: (value: unknown): void => line(safeJson(value)),
    /** Prints the answer of a box: its body as JSON, or what `render` prints for a person. */
    answer: <Body>(body: Body, render: (body: Body) => void): void => {
      if (isJson) line(safeJson(body));
      else render(body);
    },
    table: (head: readonly string[], rows: readonly (readonly string[])[]): void => {
      const [first = '', ...others] = columns([head, ...rows]);
      painted(paint(stdout, 'bold', first));
      for (const other of others) line(other);
    },
    /** Begins a table whose rows come one by one. @returns prints a row */
    growingTable: (head: readonly string[], widths: readonly number[]): ((row: readonly string[]) => void) => {
      const aligned = (row: readonly string[]): string =>
        row
          .map((cell, index) => padded(fitted(visible(cell), 200), widths[index] ?? 0))
          .join('  ')
          .trimEnd();
      painted(paint(stdout, 'bold', aligned(head)));
      return (row) => line(aligned(row));
    },
    /** Prints names and values, one pair a line. */
    fields: (pairs: readonly (readonly [string, string])[]): void => {
      for (const each of columns(pairs)) line(each);
    },
    /** Prints a difference in the unified format. */
    patch: (text: string): void => {
      for (const each of text.split('\n').slice(0, -1)) {
        const style = ({ '+': 'green', '-': 'red', '@': 'dim' } as const)[each[0] ?? ''];
        painted(style === undefined ? visible(each) : paint(stdout, style, visible(each)));
      }
    },
    /** Fills the terminal with lines, in place of those before. Longer lines are cut by the terminal (DECAWM). */
    repaint: (lines: readonly string[]): void => {
      const shown = lines.slice(0, (stdout.rows || 24) - 1).map((each) => `${each}\x1b[K\n`);
      stdout.write(`\x1b[?7l\x1b[H${shown.join('')}\x1b[J\x1b[?7h`);
    },
    say,
    warn: (text: string): void => headed('yellow', 'Warning:', text),
    fail: (text: string): void => headed('red', 'Error:', text),
  };
};
export type Output = ReturnType<typeof createOutput>;
