/**
 * Puts the window of each display on its output. A Wayland client cannot place its own windows: the compositor opens every
 * window on the focused output. sway is controlled over its socket, with `swaymsg`.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Run } from '../processes.ts';
import type { Display } from './displays.ts';

interface Position {
  x: number;
  y: number;
}

const byPosition = (a: Position, b: Position): number => a.x - b.x || a.y - b.y;

/**
 * The output of each display. The compositor and Chromium name displays differently, so they are matched by position. The
 * rest, for example at a scale that the two apply differently, is matched from left to right.
 */
export const matchOutputs = <Shown extends { bounds: Display['bounds'] }, Output extends { rect: Position }>(
  displays: readonly Shown[],
  outputs: readonly Output[],
): Map<Shown, Output> => {
  const matched = new Map<Shown, Output>();
  for (const display of displays) {
    const output = outputs.find(({ rect }) => byPosition(rect, display.bounds) === 0);
    if (output !== undefined) matched.set(display, output);
  }
  const taken = new Set(matched.values());
  const free = outputs.filter((output) => !taken.has(output)).toSorted((a, b) => byPosition(a.rect, b.rect));
  const left = displays.filter((display) => !matched.has(display)).toSorted((a, b) => byPosition(a.bounds, b.bounds));
  for (const [index, display] of left.entries()) {
    const output = free[index];
    if (output !== undefined) matched.set(display, output);
  }
  return matched;
};

export interface PlacedWindow {
  title: string;
  /** The bounds of its display, as Electron reports them. */
  bounds: Display['bounds'];
}

/** The used part of a node of `swaymsg -t get_tree`; see sway-ipc(7). */
const nodeSchema = z.object({
  id: z.int(),
  type: z.string(),
  name: z.string().nullable(),
  rect: z.object({ x: z.int(), y: z.int() }),
  /** 1: it fills its output. */
  fullscreen_mode: z.int().optional(),
  get nodes() {
    return z.array(nodeSchema);
  },
  get floating_nodes() {
    return z.array(nodeSchema);
  },
});
type Node = z.infer<typeof nodeSchema>;

const descendants = (node: Node): Node[] =>
  [...node.nodes, ...node.floating_nodes].flatMap((child) => [child, ...descendants(child)]);

/**
 * @param tree the answer to `swaymsg -t get_tree`
 * @returns the commands that put every open window on its output, full-screen
 * @throws ZodError if the tree is invalid
 */
export const placementCommands = (tree: unknown, windows: readonly PlacedWindow[]): string[] => {
  // `__i3` is sway's scratchpad.
  const outputs = nodeSchema.parse(tree).nodes.filter(({ type, name }) => type === 'output' && name !== '__i3');
  const matched = matchOutputs(windows, outputs);
  const open = outputs.flatMap((output) => descendants(output).map((node) => ({ node, output })));
  return windows.flatMap((window) => {
    const found = open.find(({ node }) => node.name === window.title && node.type.endsWith('con'));
    const output = matched.get(window);
    if (found === undefined || output === undefined) return [];
    if (found.output === output && found.node.fullscreen_mode === 1) return [];
    return `[con_id=${found.node.id}] move container to output "${output.name}", fullscreen enable`;
  });
};

/** Windows open asynchronously. */
const FIRST_MS = 100;
/** The compositor moves windows when outputs are connected or removed, so the check is repeated. */
const LAST_MS = 5_000;

/** @param isSway whether the compositor is sway; does nothing otherwise */
export const createPlacement = (
  { log, execute }: { log: Pick<Logger, 'info' | 'warn'>; execute: Run },
  { isSway }: { isSway: boolean },
) => {
  let windows: readonly PlacedWindow[] = [];
  let intervalMs = FIRST_MS;
  let waking = new AbortController();
  let isRunning = false;
  let isClosed = false;
  let hasWarned = false;

  const place = async (): Promise<void> => {
    const tree: unknown = JSON.parse(await execute('swaymsg', ['-t', 'get_tree', '-r']));
    const commands = placementCommands(tree, windows);
    if (commands.length === 0) return;
    await execute('swaymsg', [commands.join('; ')]);
    log.info({ commands }, 'windows were moved to their outputs');
  };

  const check = async (): Promise<void> => {
    while (!isClosed) {
      await place().catch((error: unknown) => {
        if (!hasWarned) log.warn({ err: error }, 'the windows cannot be moved to their outputs');
        hasWarned = true;
      });
      await wait(intervalMs, undefined, { ref: false, signal: waking.signal }).catch(() => {});
      intervalMs = Math.min(intervalMs * 2, LAST_MS);
    }
  };

  return {
    /** From now on keeps these windows on the outputs of their displays. */
    arrange: (next: readonly PlacedWindow[]) => {
      if (!isSway) return;
      windows = next;
      intervalMs = FIRST_MS;
      waking.abort();
      waking = new AbortController();
      if (isRunning) return;
      isRunning = true;
      void check();
    },
    close: () => {
      isClosed = true;
      waking.abort();
    },
  };
};

export type Placement = ReturnType<typeof createPlacement>;
