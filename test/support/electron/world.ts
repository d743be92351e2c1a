/** What the parts of the mock share. */
import { randomUUID } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import type { Chromium } from './chromium.ts';
import type { Ipc } from './emitter.ts';

export interface World {
  chromium: Promise<Chromium>;
  app: EventEmitter & { isReady(): boolean; isPackaged: boolean; getAppPath(): string };
  ipcMain: Ipc;
  /** The connected displays. */
  displays(): readonly { id: number; bounds: Record<'x' | 'y' | 'width' | 'height', number> }[];
  /** Called when the last window has closed. */
  onAllWindowsClosed(): void;
  /** Called when a window refused to close. */
  onCloseCancelled(): void;
}

let world: World | undefined;

export const setWorld = (given: World): void => {
  world = given;
};

export const theWorld = (): World => {
  if (world === undefined) throw new Error('the mock is not set up');
  return world;
};

/** The names of events inside pages, which pages cannot guess. */
export const secret = `e${randomUUID().replaceAll('-', '')}`;
