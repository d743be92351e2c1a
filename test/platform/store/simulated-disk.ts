import { basename } from 'node:path';
import type { Disk } from '../../../service/platform/store/disk.ts';

interface Inode {
  data: Buffer;
  /** What has reached the medium and survives a power cut. */
  synced: Buffer;
}

type Names = Map<string, Inode>;
type Operation = keyof Disk | 'write' | 'sync' | 'close';

export interface Life {
  /** The step, counted from 0, before which the machine stops. */
  crashAt?: number;
  /** The error code that a step fails with, if any. */
  fail?: (operation: Operation, step: number) => string | undefined;
  /** How many of `most` bytes a write takes, at least 1. */
  take?: (most: number) => number;
}

export const failure = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code });

const never = new Promise<never>(() => {});

/**
 * A disk in memory that promises no more than POSIX does: bytes last once the file was synced, names once the folder
 * was, and a power cut keeps any part of the rest.
 */
export function createSimulatedDisk(capacity = Number.POSITIVE_INFINITY) {
  let names: Names = new Map();
  let lasting: Names = new Map();
  let pending: Array<(names: Names) => void> = [];

  const used = (): number => [...new Set(names.values())].reduce((sum, { data }) => sum + data.length, 0);

  const rename = (change: (names: Names) => void): void => {
    change(names);
    pending.push(change);
  };

  const find = (path: string): Inode => {
    const inode = names.get(path);
    if (!inode) throw failure('ENOENT');
    return inode;
  };

  /** The disk as one process sees it, up to its end. */
  function boot({ crashAt = Number.POSITIVE_INFINITY, fail = () => undefined, take = (most) => most }: Life = {}) {
    let steps = 0;
    let stop = (): void => {};
    const crashed = new Promise<void>((resolve) => {
      stop = resolve;
    });

    async function step(operation: Operation): Promise<void> {
      await Promise.resolve();
      const at = steps;
      steps += 1;
      if (at >= crashAt) {
        stop();
        await never;
      }
      const code = fail(operation, at);
      if (code) throw failure(code);
    }

    const disk: Disk = {
      async open(path, flags) {
        await step('open');
        if (flags === 'wx' && names.has(path)) throw failure('EEXIST');
        let inode = names.get(path);
        if (!inode) {
          const made: Inode = { data: Buffer.alloc(0), synced: Buffer.alloc(0) };
          rename((each) => each.set(path, made));
          inode = made;
        }
        const file = inode;
        file.data = Buffer.alloc(0);
        return {
          async write(bytes, offset) {
            await step('write');
            const room = Math.min(bytes.length - offset, capacity - used());
            if (room <= 0) throw failure('ENOSPC');
            const bytesWritten = take(room);
            file.data = Buffer.concat([file.data, bytes.subarray(offset, offset + bytesWritten)]);
            return { bytesWritten };
          },
          async stat() {
            await step('stat');
            return { size: file.data.length };
          },
          async sync() {
            await step('sync');
            file.synced = file.data;
          },
          close: () => step('close'),
        };
      },
      async readFile(path) {
        await step('readFile');
        return find(path).data;
      },
      async readdir() {
        await step('readdir');
        return [...names.keys()].map((path) => basename(path));
      },
      async stat(path) {
        await step('stat');
        return { size: find(path).data.length };
      },
      async link(path, other) {
        await step('link');
        const inode = find(path);
        if (names.has(other)) throw failure('EEXIST');
        rename((each) => each.set(other, inode));
      },
      async rename(from, to) {
        await step('rename');
        const inode = find(from);
        if (names.get(to) === inode) return;
        rename((each) => {
          each.set(to, inode);
          each.delete(from);
        });
      },
      async unlink(path) {
        await step('unlink');
        find(path);
        rename((each) => each.delete(path));
      },
      async syncFolder() {
        await step('syncFolder');
        lasting = new Map(names);
        pending = [];
      },
      async free() {
        await step('free');
        return capacity - used();
      },
    };

    return { disk, crashed, steps: () => steps };
  }

  /** Takes the power away: of what was not synced, `draw(n)`, a number from 0 to n, decides what is left. */
  function cutPower(draw: (most: number) => number): void {
    for (const change of pending) if (draw(1) === 1) change(lasting);
    names = lasting;
    lasting = new Map(names);
    pending = [];
    for (const inode of new Set(names.values())) {
      if (inode.data !== inode.synced) {
        const kept = inode.data.subarray(0, draw(inode.data.length));
        // Either cut short, or as long as it was and empty from there on: file systems do both.
        inode.data = draw(1) === 1 ? kept : Buffer.concat([kept], inode.data.length);
      }
      inode.synced = inode.data;
    }
  }

  return {
    boot,
    cutPower,
    names: () => [...names.keys()].map((path) => basename(path)),
    read: (path: string) => find(path).data,
  };
}
