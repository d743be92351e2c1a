/** The content of the box: the operator's file, watched; the last good content, kept; payloads, ready. */

import { unwatchFile, watchFile } from 'node:fs';
import { copyFile, cp, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Feeds } from '../feeds/feeds.ts';
import { compareVersions } from '../peers/merge.ts';
import { createQueue } from '../queue.ts';
import type { Durable } from '../store/durable.ts';
import type { ContentDocument } from '../wire/peers.ts';
import type { Screen } from '../wire/playlist.ts';
import type { Variant } from '../wire/terms.ts';
import { createBackups } from './backups.ts';
import { editedDocument, isLost, versionOf } from './document.ts';
import { type ContentFile, contentJsonSchema, type Fault, type OpeningTime, readContent } from './file.ts';
import type { Kept } from './keeper.ts';
import { mediaNamed } from './media.ts';
import { buildModel, type Programme, sourcesOf } from './model.ts';
import { createPayload, type Payload } from './payload.ts';
import { rewriteFile, sweepRewrites } from './rewrite.ts';

interface Dependencies {
  /** Keeps the last good content. */
  keeper: Pick<Durable<Kept>, 'read' | 'update'>;
  /** The live data that payloads carry beside the operator's document. */
  feeds: Pick<Feeds, 'follow' | 'fill' | 'onChange'>;
  /** This box's, which its edits are known by. */
  nodeId: string;
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
  /** When a screen's display is on; null: always. */
  hours(slug: string): readonly OpeningTime[] | null;
  /** `invalid`: the file is at fault and the last good content plays. */
  status(): { status: 'ok' | 'invalid'; errors: Fault[] };
  /** Calls back with the slugs whose payload is new, changed or gone. */
  onChange(listener: (slugs: string[]) => void): void;
  /** What other boxes may have: the newest document that a power cut would leave; null where there never was any. */
  document(): ContentDocument | null;
  /** The names of the box's own media that what plays refers to. */
  mediaNames(): ReadonlySet<string>;
  /** Whether what plays has a web slide with this address. */
  namesPage(url: string): boolean;
  /** Takes notice of a counter on another box: the next edit here is counted on from there. */
  saw(counter: number): void;
  /**
   * Plays another box's document, and makes the file say so, where it wins over this box's own. What the operator had
   * written here and the winner was not edited from is kept beside the file. Once this resolves it is durable.
   *
   * @returns the faults for which a winner is not taken, as for a file of the operator's; else none
   * @throws the system's error where the file can't be rewritten; the box stays with what it has
   */
  take(document: ContentDocument): Promise<Fault[]>;
  /** Calls back when {@link document} is another, edited here or taken. */
  onDocument(listener: () => void): void;
  /** The files of {@link take}, the oldest first, for as long as they are there. */
  lost(): Promise<string[]>;
  /** Resolves when what is under way is done. */
  close(): Promise<void>;
}

const POLL_MS = 200;
/** A file that is read while an editor writes it is given this long to become whole. */
const SETTLE_MS = 150;

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Loads the content and begins to watch its file. The first start ever writes the demo. */
export const openContent = async (
  { keeper, feeds, nodeId, log }: Dependencies,
  options: ContentOptions,
): Promise<Content> => {
  const path = join(options.dataDir, 'content.json');
  const backups = createBackups(options.dataDir);
  const listeners: ((slugs: string[]) => void)[] = [];
  const documentListeners: (() => void)[] = [];
  let payloads: ReadonlyMap<string, Payload> = new Map();
  let programmes: ReadonlyMap<string, Programme> = new Map();
  let faults: Fault[] = [];

  await sweepRewrites(path);
  const kept = keeper.read();
  const durable = (): ContentDocument | null => {
    const { document, stamps } = keeper.read();
    return document === null ? null : { ...document, stamps };
  };
  // Held here too: what the keeper reads is behind for as long as the disk is slow or full.
  let current = durable();
  const keptReading = current === null ? null : readContent(Buffer.from(current.text));
  let file: ContentFile | null = keptReading?.ok ? keptReading.content : null;
  let highest = current?.counter ?? 0;

  /** Makes what there is now what is shown, and tells of it; answers whether it is anything else than before. */
  const publish = (): boolean => {
    const before = payloads;
    payloads = new Map(
      [...programmes].map(([slug, programme]) => [
        slug,
        createPayload({ ...programme, ...feeds.fill(programme) }, options.variant),
      ]),
    );
    const changed = [...new Set([...before.keys(), ...payloads.keys()])].filter(
      (slug) => before.get(slug)?.revision !== payloads.get(slug)?.revision,
    );
    if (changed.length > 0) for (const listener of listeners) listener(changed);
    return changed.length > 0;
  };

  /** The baseline variant has no fields for live data. */
  const follow = (content: ContentFile): void => feeds.follow(options.variant === 'extended' ? sourcesOf(content) : []);

  const keep = async (document: ContentDocument, shown: ReadonlyMap<string, Programme>): Promise<void> => {
    const { stamps, ...rest } = document;
    try {
      await keeper.update(() => ({ programmes: [...shown], stamps, document: rest }));
    } catch (error) {
      log.error({ err: error }, 'the last good content could not be kept; after a restart it depends on content.json');
      return;
    }
    for (const listener of documentListeners) listener();
  };

  /** What is shown depends on the document alone, so that all boxes that have it show the same, to the revision. */
  const programmesOf = ({ stamps, changedAt }: ContentDocument, content: ContentFile) =>
    buildModel(content, new Map(stamps), changedAt).programmes;

  /** Answers whether anything else is shown than before. */
  const show = (document: ContentDocument, content: ContentFile): boolean => {
    programmes = programmesOf(document, content);
    follow(content);
    current = document;
    file = content;
    highest = Math.max(highest, document.counter);
    return publish();
  };

  const read = async () => {
    try {
      const [bytes, { mtimeMs }] = await Promise.all([readFile(path), stat(path)]);
      return { bytes, reading: readContent(bytes), changedAt: new Date(Math.min(mtimeMs, Date.now())) };
    } catch (error) {
      const message = isMissing(error)
        ? 'content.json is missing'
        : `content.json can't be read: ${(error as Error).message}`;
      const reading = { ok: false as const, faults: [{ path: '', message }] };
      return { bytes: Buffer.alloc(0), reading, changedAt: new Date() };
    }
  };

  /** A file that says what the document says was not edited, whenever it was saved. */
  const documentOf = async (bytes: Buffer, content: ContentFile, changedAt: string): Promise<ContentDocument> => {
    const text = bytes.toString();
    if (current !== null && current.text === text) return current;
    const before = new Map(current === null ? kept.stamps : current.stamps);
    const stamps = [...buildModel(content, before, changedAt).stamps];
    const isDemo = current === null && bytes.equals(await readFile(demoOf(options)).catch(() => Buffer.alloc(0)));
    return editedDocument(current, { counter: isDemo ? 0 : highest + 1, nodeId, changedAt, stamps, text });
  };

  const load = async (): Promise<Buffer> => {
    let found: Awaited<ReturnType<typeof read>> = await read();
    if (!found.reading.ok) {
      await delay(SETTLE_MS);
      found = await read();
    }
    const { bytes, reading, changedAt } = found;
    if (reading.ok) {
      faults = [];
      // Whoever is shown something new need not wait for the disk.
      const document = await documentOf(bytes, reading.content, changedAt.toISOString());
      const isNew = keeper.read().document?.sha256 !== document.sha256;
      if (show(document, reading.content) || isNew) void keep(document, programmes);
      log.info({ screens: payloads.size }, 'content is live');
    } else {
      faults = reading.faults;
      log.warn({ errors: faults }, 'content.json is refused; the last good content keeps playing');
    }
    return bytes;
  };

  /** Keeps beside the file what would be lost with it. */
  const backUp = async (written: Buffer, winner: ContentDocument): Promise<void> => {
    const texts: Buffer[] = current !== null && isLost(current, winner) ? [Buffer.from(current.text)] : [];
    // Something that is not valid yet, or not any more.
    if (faults.length > 0 && written.length > 0) texts.push(written);
    for (const text of texts) {
      const name = await backups.keep(text, new Date());
      log.warn(
        { file: name, lost: current && versionOf(current), won: versionOf(winner) },
        'an edit of content.json lost to one made on another box; it is kept beside the file',
      );
    }
  };

  const wins = (document: ContentDocument): boolean => current === null || compareVersions(document, current) > 0;

  const take = async (document: ContentDocument): Promise<Fault[]> => {
    if (!wins(document)) return [];
    const text = Buffer.from(document.text);
    const reading = readContent(text);
    if (!reading.ok) return reading.faults;
    // An edit that nobody has noticed yet is one all the same.
    const written = await load();
    if (!wins(document)) return [];
    // What nobody wrote is no reason to take a file from somebody who is writing it.
    if (document.counter === 0 && faults.length > 0) return [];
    await backUp(written, document);
    if (!written.equals(text)) await rewriteFile(path, text);
    faults = [];
    log.info({ version: versionOf(document) }, "another box's content is live");
    // Kept before it shows: whoever saw it here edits on top of it, though the power goes in between.
    await keep(document, programmesOf(document, reading.content));
    show(document, reading.content);
    return [];
  };

  if (kept.programmes !== null) {
    programmes = new Map(kept.programmes);
    if (file !== null) follow(file);
    publish();
  } else if (await stat(path).then(() => false, isMissing)) await writeDemo(path, options);

  // One thing at a time, and changes during a load ask for one more.
  const inTurn = createQueue();
  /** What can't be loaded for no fault of the file's is no reason for a screen to be black. */
  const reload = async (): Promise<void> => {
    try {
      await load();
    } catch (error) {
      faults = [{ path: '', message: `content.json could not be taken in: ${(error as Error).message}` }];
      log.error({ err: error }, 'content.json could not be taken in; what was shown stays');
    }
  };
  let isDue = false;
  const onFileChange = (): void => {
    if (isDue) return;
    isDue = true;
    void inTurn(() => {
      isDue = false;
      return reload();
    });
  };
  feeds.onChange(publish);
  // Polling sees what editors that replace the file, network folders and mounts do, where events may not.
  watchFile(path, { interval: POLL_MS }, onFileChange);
  await inTurn(reload);
  void writeSchema(join(options.dataDir, 'content.schema.json')).catch((error: unknown) => {
    log.warn({ err: error }, 'content.schema.json could not be written; editors will not complete content.json');
  });

  return {
    screens: () => [...payloads.values()].map(({ screen }) => screen),
    payload: (slug) => payloads.get(slug),
    hours: (slug) => file?.screens.find((screen) => screen.slug === slug)?.hours ?? null,
    status: () => ({ status: faults.length === 0 ? 'ok' : 'invalid', errors: faults }),
    onChange: (listener) => {
      listeners.push(listener);
    },
    document: durable,
    mediaNames: () => (file === null ? new Set() : mediaNamed(file)),
    namesPage: (url) =>
      file?.playlists.some(({ slides }) =>
        slides.some(({ kind, media_url }) => kind === 'web' && media_url === url),
      ) === true,
    saw: (counter) => {
      highest = Math.max(highest, counter);
    },
    take: (document) => inTurn(() => take(document)),
    onDocument: (listener) => {
      documentListeners.push(listener);
    },
    lost: backups.list,
    close: async () => {
      unwatchFile(path, onFileChange);
      await inTurn(async () => {});
    },
  };
};

const demoOf = ({ demoDir }: ContentOptions): string => join(demoDir, 'content.json');

const writeDemo = async (path: string, options: ContentOptions): Promise<void> => {
  const { demoDir, mediaDir } = options;
  await mkdir(mediaDir, { recursive: true });
  await cp(join(demoDir, 'media'), mediaDir, { recursive: true, force: false });
  // Last, and whole: a start that was cut off before this is a first start again.
  await copyFile(demoOf(options), `${path}.new`);
  await rename(`${path}.new`, path);
};

const writeSchema = async (path: string): Promise<void> => {
  const schema = `${JSON.stringify(contentJsonSchema(), null, 2)}\n`;
  const before = await readFile(path, 'utf8').catch(() => '');
  if (before !== schema) await writeFile(path, schema);
};
