/** The content of the box: one document, from the operator's file or from another box; the last good one, kept. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { ContentDocument } from '../contract/peers.ts';
import type { Variant } from '../contract/terms.ts';
import { editedDocument, isLost, versionOf } from '../domain/document.ts';
import { compareVersions } from '../domain/merge.ts';
import type { Feeds } from '../feeds/feeds.ts';
import { createQueue } from '../platform/queue.ts';
import type { Durable } from '../platform/store/durable.ts';
import { rewriteFile, sweepRewrites } from '../platform/store/rewrite.ts';
import { createBackups } from './backups.ts';
import { createChecker } from './checker.ts';
import { isDemo, readOriginal, watchOriginal, writeDemo, writeSchema } from './content-file.ts';
import { type ContentFile, type Fault, readContent } from './file.ts';
import type { Kept } from './last-known-good.ts';
import { buildModel, type Programme } from './model.ts';
import { createShown, type View } from './payloads.ts';

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
  /** IANA name of the zone that schedules are in. */
  timeZone: string;
}

export interface Content extends View {
  /** `invalid`: the file is at fault, and the last good content plays where there is any. */
  status(): { status: 'ok' | 'invalid'; errors: Fault[] };
  /** What in the content that plays will not play as intended. A check that is under way is waited for, 2 s at most. */
  warnings(): Promise<Fault[]>;
  /** What other boxes may have: the newest document that a power cut would leave; null where there never was any. */
  document(): ContentDocument | null;
  /** Takes notice of a counter on another box: the next edit here is counted on from there. */
  saw(counter: number): void;
  /**
   * Plays another box's document, and makes the file say so, where it wins over this box's own. What the operator had
   * written here and the winner was not edited from is kept beside the file. Once this resolves the file says so for
   * good, and so does {@link document}, unless the disk took the one and not the other: that is logged, and put right
   * when the document is handed in again.
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

/** Loads the content and begins to watch its file. The first start ever writes the demo. */
export const openContent = async (
  { keeper, feeds, nodeId, log }: Dependencies,
  options: ContentOptions,
): Promise<Content> => {
  const path = join(options.dataDir, 'content.json');
  const backups = createBackups(options.dataDir);
  const documentListeners: (() => void)[] = [];
  const { view, show } = createShown({ feeds }, options);
  const checker = createChecker({ log }, options);
  let faults: Fault[] = [];

  await sweepRewrites(path);
  const kept = keeper.read();
  const durable = (): ContentDocument | null => {
    const { document, stamps } = keeper.read();
    return document === null ? null : { ...document, stamps };
  };
  // Held here too: what the keeper reads is behind for as long as the disk is slow or full.
  let current = durable();
  let highest = current?.counter ?? 0;

  const isKept = ({ sha256 }: ContentDocument): boolean => keeper.read().document?.sha256 === sha256;

  const keep = async (document: ContentDocument, programmes: ReadonlyMap<string, Programme>): Promise<void> => {
    const { stamps, ...rest } = document;
    try {
      await keeper.update(() => ({ programmes: [...programmes], stamps, document: rest }));
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
  const play = (
    document: ContentDocument,
    content: ContentFile,
    programmes: ReadonlyMap<string, Programme>,
  ): boolean => {
    current = document;
    highest = Math.max(highest, document.counter);
    checker.check(content);
    return show(programmes, content);
  };

  /** A file that says what the document says was not edited, whenever it was saved. */
  const documentOf = async (bytes: Buffer, content: ContentFile, changedAt: string): Promise<ContentDocument> => {
    const text = bytes.toString();
    if (current !== null && current.text === text) return current;
    const before = new Map(current === null ? kept.stamps : current.stamps);
    const stamps = [...buildModel(content, before, changedAt).stamps];
    const counter = current === null && (await isDemo(bytes, options)) ? 0 : highest + 1;
    return editedDocument(current, { counter, nodeId, changedAt, stamps, text });
  };

  const load = async (): Promise<Buffer> => {
    const { bytes, reading, changedAt } = await readOriginal(path);
    if (reading.ok) {
      faults = [];
      // Whoever is shown something new need not wait for the disk.
      const document = await documentOf(bytes, reading.content, changedAt.toISOString());
      const programmes = programmesOf(document, reading.content);
      if (play(document, reading.content, programmes) || !isKept(document)) void keep(document, programmes);
      log.info({ screens: programmes.size }, 'content is live');
    } else {
      faults = reading.faults;
      const consequence =
        view.screens().length === 0 ? 'there is nothing to play' : 'the last good content keeps playing';
      log.warn({ errors: faults }, `content.json is refused; ${consequence}`);
    }
    return bytes;
  };

  /** What can't be loaded for no fault of the file's is no reason for a screen to be black. */
  const reload = async (): Promise<void> => {
    try {
      await load();
    } catch (error) {
      faults = [{ path: '', message: `content.json could not be taken in: ${(error as Error).message}` }];
      log.error({ err: error }, 'content.json could not be taken in; what was shown stays');
    }
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
    const isUnkept = document.sha256 === current?.sha256 && !isKept(document);
    if (!wins(document) && !isUnkept) return [];
    const text = Buffer.from(document.text);
    const reading = readContent(text);
    if (!reading.ok) return reading.faults;
    const programmes = programmesOf(document, reading.content);
    if (isUnkept) {
      await keep(document, programmes);
      return [];
    }
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
    await keep(document, programmes);
    play(document, reading.content, programmes);
    return [];
  };

  if (kept.programmes !== null) {
    const reading = current === null ? null : readContent(Buffer.from(current.text));
    show(new Map(kept.programmes), reading?.ok ? reading.content : null);
    if (reading?.ok) checker.check(reading.content);
  } else await writeDemo(path, options);

  // One thing at a time, and changes during a load ask for one more.
  const inTurn = createQueue();
  let isDue = false;
  const unwatch = watchOriginal(path, () => {
    if (isDue) return;
    isDue = true;
    void inTurn(() => {
      isDue = false;
      return reload();
    });
  });
  await inTurn(reload);
  void writeSchema(join(options.dataDir, 'content.schema.json')).catch((error: unknown) => {
    log.warn({ err: error }, 'content.schema.json could not be written; editors will not complete content.json');
  });

  return {
    ...view,
    status: () => ({ status: faults.length === 0 ? 'ok' : 'invalid', errors: faults }),
    warnings: checker.warnings,
    document: durable,
    saw: (counter) => {
      highest = Math.max(highest, counter);
    },
    take: (document) => inTurn(() => take(document)),
    onDocument: (listener) => {
      documentListeners.push(listener);
    },
    lost: backups.list,
    close: async () => {
      unwatch();
      await inTurn(async () => {});
      await checker.close();
    },
  };
};
