/** The content of the box: the operator's file, watched; the last good content, kept; payloads, ready. */

import { unwatchFile, watchFile } from 'node:fs';
import { copyFile, cp, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Durable } from '../store/durable.ts';
import type { Screen, Variant } from '../wire.ts';
import { type ContentFile, contentJsonSchema, type Fault, readContent } from './file.ts';
import type { Kept } from './keeper.ts';
import { buildModel, type Programme, type Stamps } from './model.ts';
import { createPayload, type Payload } from './payload.ts';

interface Dependencies {
  /** Keeps the last good content. */
  keeper: Pick<Durable<Kept>, 'read' | 'update'>;
  log: Logger;
}

interface ContentOptions {
  dataDir: string;
  /** Where the demo's media are copied to at the first start. */
  mediaDir: string;
  /** The folder of the demo: `content.json` and `media/`. */
  demoDir: string;
  variant: Variant;
}

export interface Content {
  screens(): Screen[];
  payload(slug: string): Payload | undefined;
  /** `invalid`: the file is at fault and the last good content plays. */
  status(): { status: 'ok' | 'invalid'; errors: Fault[] };
  /** Calls back with the slugs whose payload is new, changed or gone. */
  onChange(listener: (slugs: string[]) => void): void;
  close(): void;
}

const POLL_MS = 200;
/** A file that is read while an editor writes it is given this long to become whole. */
const SETTLE_MS = 150;

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Loads the content and begins to watch its file. The first start ever writes the demo. */
export const openContent = async ({ keeper, log }: Dependencies, options: ContentOptions): Promise<Content> => {
  const path = join(options.dataDir, 'content.json');
  const listeners: ((slugs: string[]) => void)[] = [];
  let payloads: ReadonlyMap<string, Payload> = new Map();
  // Held here too: what the keeper reads is behind for as long as the disk is slow or full.
  let stamps: Stamps = new Map(keeper.read().stamps);
  let faults: Fault[] = [];

  /** Makes programmes what is shown; answers the slugs that show something else now. */
  const publish = (programmes: ReadonlyMap<string, Programme>): string[] => {
    const before = payloads;
    payloads = new Map([...programmes].map(([slug, programme]) => [slug, createPayload(programme, options.variant)]));
    return [...new Set([...before.keys(), ...payloads.keys()])].filter(
      (slug) => before.get(slug)?.revision !== payloads.get(slug)?.revision,
    );
  };

  const keep = async (programmes: ReadonlyMap<string, Programme>): Promise<void> => {
    try {
      await keeper.update(() => ({ programmes: [...programmes], stamps: [...stamps] }));
    } catch (error) {
      log.error({ err: error }, 'the last good content could not be kept; after a restart it depends on content.json');
    }
  };

  const apply = (content: ContentFile, changedAt: Date): void => {
    const model = buildModel(content, stamps, changedAt.toISOString());
    stamps = model.stamps;
    const changed = publish(model.programmes);
    if (changed.length === 0 && keeper.read().programmes !== null) return;
    void keep(model.programmes);
    for (const listener of listeners) listener(changed);
  };

  const read = async () => {
    try {
      const [bytes, { mtimeMs }] = await Promise.all([readFile(path), stat(path)]);
      return { reading: readContent(bytes), changedAt: new Date(Math.min(mtimeMs, Date.now())) };
    } catch (error) {
      const message = isMissing(error)
        ? 'content.json is missing'
        : `content.json can't be read: ${(error as Error).message}`;
      return { reading: { ok: false as const, faults: [{ path: '', message }] }, changedAt: new Date() };
    }
  };

  const load = async (): Promise<void> => {
    let { reading, changedAt } = await read();
    if (!reading.ok) {
      await delay(SETTLE_MS);
      ({ reading, changedAt } = await read());
    }
    if (reading.ok) {
      faults = [];
      apply(reading.content, changedAt);
      log.info({ screens: payloads.size }, 'content is live');
    } else {
      faults = reading.faults;
      log.warn({ errors: faults }, 'content.json is refused; the last good content keeps playing');
    }
  };

  const kept = keeper.read().programmes;
  if (kept !== null) publish(new Map(kept));
  else if (await stat(path).then(() => false, isMissing)) await writeDemo(path, options);

  // Loads follow one another, and changes during one of them ask for one more.
  let loading = false;
  let again = false;
  const reload = async (): Promise<void> => {
    again = true;
    if (loading) return;
    loading = true;
    while (again) {
      again = false;
      await load();
    }
    loading = false;
  };
  const onFileChange = (): void => void reload();
  // Polling sees what editors that replace the file, network folders and mounts do, where events may not.
  watchFile(path, { interval: POLL_MS }, onFileChange);
  await reload();
  void writeSchema(join(options.dataDir, 'content.schema.json')).catch((error: unknown) => {
    log.warn({ err: error }, 'content.schema.json could not be written; editors will not complete content.json');
  });

  return {
    screens: () => [...payloads.values()].map(({ screen }) => screen),
    payload: (slug) => payloads.get(slug),
    status: () => ({ status: faults.length === 0 ? 'ok' : 'invalid', errors: faults }),
    onChange: (listener) => {
      listeners.push(listener);
    },
    close: () => unwatchFile(path, onFileChange),
  };
};

const writeDemo = async (path: string, { demoDir, mediaDir }: ContentOptions): Promise<void> => {
  await mkdir(mediaDir, { recursive: true });
  await cp(join(demoDir, 'media'), mediaDir, { recursive: true, force: false });
  // Last, and whole: a start that was cut off before this is a first start again.
  await copyFile(join(demoDir, 'content.json'), `${path}.new`);
  await rename(`${path}.new`, path);
};

const writeSchema = async (path: string): Promise<void> => {
  const schema = `${JSON.stringify(contentJsonSchema(), null, 2)}\n`;
  const before = await readFile(path, 'utf8').catch(() => '');
  if (before !== schema) await writeFile(path, schema);
};
