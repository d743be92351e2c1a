/** The newest lines of the log, in memory. */

export interface LogRing {
  add(line: string): void;
  /** Oldest first. */
  lines(): readonly string[];
}

/** @param most the limit of lines @param mostCharacters the limit of all lines together; the newest line is always kept */
export const createLogRing = (most: number, mostCharacters = 1024 ** 2): LogRing => {
  const lines: string[] = [];
  let characters = 0;
  return {
    add: (line) => {
      lines.push(line);
      characters += line.length;
      while (lines.length > 1 && (lines.length > most || characters > mostCharacters)) {
        characters -= lines.shift()?.length ?? 0;
      }
    },
    lines: () => lines,
  };
};
