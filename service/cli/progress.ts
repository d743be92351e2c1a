/** A bar for work under way, on a terminal alone. */
import stringWidth from 'fast-string-width';
import { bytes } from './format.ts';
import type { Sink } from './output.ts';

const WIDTH = 24;
/** Between two repaints, ms. */
const PAUSE_MS = 100;

export interface Progress {
  /** @param count bytes that were sent since the last call */
  advance(count: number): void;
  /** The current operation. */
  label(text: string): void;
  /** Removes the bar. */
  end(): void;
}

/** @param total bytes in all */
export const startProgress = (sink: Sink, total: number): Progress => {
  if (sink.isTTY !== true) return { advance: () => undefined, label: () => undefined, end: () => undefined };
  let done = 0;
  let text = '';
  let paintedAt = Number.NEGATIVE_INFINITY;
  const paint = (): void => {
    if (done < total && performance.now() - paintedAt < PAUSE_MS) return;
    paintedAt = performance.now();
    const share = total === 0 ? 1 : Math.min(1, done / total);
    const filled = Math.round(share * WIDTH);
    const bar = `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${Math.floor(share * 100)}% of ${bytes(total)} `;
    const room = (sink.columns || 80) - stringWidth(bar) - 1;
    sink.write(`\r${bar}${stringWidth(text) <= room ? text : ''}\x1b[K`);
  };
  return {
    advance: (count) => {
      done += count;
      paint();
    },
    label: (next) => {
      text = next;
      paint();
    },
    end: () => void sink.write('\r\x1b[K'),
  };
};
