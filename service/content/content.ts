/** The content of the box: one document, from the operator's file or from a peer. The last valid one is stored. */
import { join } from 'node:path';
import type { ReplacedVersion } from '../contract/console/content.ts';
import type { ContentFile } from '../contract/content.ts';
import type { ContentIssue } from '../contract/content-terms.ts';
import { CodedError } from '../contract/errors.ts';
import type { ContentDocument } from '../contract/peers.ts';
import { isLost, isUnseen, versionOf } from '../domain/document.ts';
import { createEmitter } from '../domain/emitter.ts';
import { compareVersions } from '../domain/merge.ts';
import type { Feeds } from '../feeds/index.ts';
import type { ServiceContext } from '../module.ts';
import { createQueue } from '../platform/queue.ts';
import { isFull } from '../platform/store/disk.ts';
import type { Durable } from '../platform/store/durable.ts';
import { writeWithReserve } from '../platform/store/reserve.ts';
import { rewriteFile, sweepRewrites } from '../platform/store/rewrite.ts';
import type { Secrets } from '../secrets/index.ts';
import { createChecker } from './checker.ts';
import { createBackups, readContentFile, watchContentFile, writeDemo } from './content-file.ts';
import {
  createEdits,
  createFileEdits,
  documentState,
  type FileEdit,
  type Publication,
  screenDocumentsOf,
} from './edits.ts';
import { createFontCheck } from './fonts.ts';
import { createKept, type LastKnownGood, storedScreens } from './last-known-good.ts';
import { readDocument } from './lenient.ts';
import type { ScreenDocument } from './model.ts';
import { createPayloads, type InsertedPlaylists, type LeadingSlides, type View } from './payloads.ts';
import { type Reading, validateContent, writeSchema } from './validate.ts';

export interface Content extends View {
  /** `invalid`: the file has errors, and the last valid content plays, if any. */
  status(): { status: 'ok' | 'invalid'; errors: ContentIssue[] };
  /** Mistakes in the playing content that the schema allows. Waits up to 2 s for a running check. */
  warnings(): Promise<ContentIssue[]>;
  /** Validates an edit: also by what this box knows, such as secrets. Never throws. */
  validate(json: unknown): Reading;
  /** Mistakes in any content that the schema allows. */
  judge(content: ContentFile): Promise<ContentIssue[]>;
  /** The document that plays; null: there never was valid content. */
  playing(): ContentDocument | null;
  /** Whether this version knows all that plays; else some of it, which a newer one made, is left out and warned of. */
  isWhole(): boolean;
  /**
   * Replaces content.json and plays the new content, as an edit of this box. Edits run one at a time. Once this resolves,
   * the file is durable.
   * @throws CodedError `content_changed`; `insufficient_storage`, or the system's error, if the file can't be rewritten, and
   *   then nothing changes
   */
  publish(publication: Publication): Promise<ContentDocument>;
  /**
   * The newest document that is on the disk, for peers to fetch; null: there never was one.
   * @param sha256 of the last one that lost here, to get that one
   */
  document(sha256?: string): ContentDocument | null;
  /** Records the counter of a peer's document: the next edit here gets a higher one. */
  observeCounter(counter: number): void;
  /**
   * Plays a peer's document and writes it to content.json, if its version wins over this box's. An edit of this box that
   * the winner does not descend from is backed up next to the file. Once this resolves, the file and {@link document} are
   * durable. If the disk stored only the file, that is logged, and the document is stored once the disk takes it. One that
   * loses to an edit that was made at the same time is {@link replaced}, as on the box where it was made.
   *
   * @returns the issues for which a winner is refused, as for the operator's file; else an empty list
   * @throws the system's error if the file can't be rewritten; the box keeps its content
   */
  accept(document: ContentDocument): Promise<ContentIssue[]>;
  /** Calls `listener` with each document that starts to play, though it may not be on the disk yet. */
  onPlay(listener: (document: ContentDocument) => void): void;
  /**
   * Calls `listener` with each edit of content.json by an editor: not with those of {@link publish} and {@link accept}. One
   * that was made while the service was stopped is passed to a listener that is added later.
   */
  onFileEdit(listener: (edit: FileEdit) => void): void;
  /** Calls `listener` when {@link document} changes, by an edit here or by {@link accept}. */
  onDocument(listener: () => void): void;
  /** Calls `listener` with each document that lost before it could play here. */
  onLoss(listener: (document: ContentDocument) => void): void;
  /** Versions that were replaced by one that had not seen them, newest first. */
  replaced(): readonly ReplacedVersion[];
  /** Names of the existing backups of {@link accept}, oldest first. */
  lost(): Promise<string[]>;
}

type Valid = Pick<Extract<Reading, { ok: true }>, 'content' | 'leftOut'>;

interface OpenContent extends Content {
  /** Resolves when all pending work is done. */
  close(): Promise<void>;
}

/** Loads the content and watches its file. The first start writes the demo. */
export const openContent = async (
  context: ServiceContext,
  {
    lastKnownGood,
    feeds,
    leading,
    inserted,
    secrets,
  }: {
    lastKnownGood: Pick<Durable<LastKnownGood>, 'read' | 'update'>;
    feeds: Pick<Feeds, 'follow' | 'fill' | 'onChange'>;
    leading: LeadingSlides;
    inserted: InsertedPlaylists;
    secrets: Pick<Secrets, 'issues' | 'publicWarnings'>;
  },
): Promise<OpenContent> => {
  const { dirs, ids, log, reserve, tempo, now } = context;
  const path = join(dirs.data, 'content.json');
  const demo = { demoDir: join(dirs.resources, 'demo'), mediaDir: dirs.media };
  const backups = createBackups(dirs.data, reserve);
  const rewrite = (bytes: Uint8Array): Promise<void> => writeWithReserve(reserve, () => rewriteFile(path, bytes));
  const kept = createKept(context, lastKnownGood);
  const { isStored, store } = kept;
  const plays = createEmitter<[ContentDocument]>();
  const losses = createEmitter<[ContentDocument]>();
  const fileEdits = createFileEdits();
  const { view, show, refuseFonts, close: closePayloads } = createPayloads(context, { feeds, leading, inserted });
  const fonts = createFontCheck(context);
  const checker = createChecker(context, fonts);
  let issues: ContentIssue[] = [];
  /** Of the document that plays. */
  let leftOut: readonly ContentIssue[] = [];
  let named: ContentFile | null = null;

  await sweepRewrites(path);
  const atStart = lastKnownGood.read();
  const edit = createEdits(ids.nodeId, demo);
  // Held in memory too: while the disk is slow or full, the stored document is older.
  let current = kept.document();
  let lastLost: ContentDocument | null = null;
  /** The playing content; null: only the stored content. */
  let playing: { bytes: Buffer; screenDocuments: ReadonlyMap<string, ScreenDocument> } | null = null;
  let highest = current?.counter ?? 0;
  const nextCounter = (): number => highest + 1;

  /** @returns whether any payload changed */
  const play = (
    document: ContentDocument,
    { content, leftOut: without = [] }: Valid,
    screenDocuments: ReadonlyMap<string, ScreenDocument>,
  ): boolean => {
    const isNew = document !== current;
    current = document;
    playing = { bytes: Buffer.from(document.text), screenDocuments };
    leftOut = without;
    highest = Math.max(highest, document.counter);
    // Pages first.
    const isChanged = show(screenDocuments, content);
    if (isNew) plays.emit(document);
    checker.check(content, leftOut);
    return isChanged;
  };

  /** Secrets are changed apart from the content, and content of other boxes may name some that are not here yet. */
  const judged = (reading: Reading): Reading => {
    const found = reading.ok ? secrets.issues(reading.content) : [];
    return found.length === 0 ? reading : { ok: false, issues: found };
  };

  /** An edit of the file, where what plays is not whole here: it would remove what a newer version made. */
  const judgedFile = (read: Reading): Reading => {
    const reading = judged(read);
    if (!reading.ok || leftOut.length === 0) return reading;
    return { ok: false, issues: [{ path: '', message: new CodedError('box_older').message }] };
  };

  /** Removes refused fonts from payloads, before pages are notified. */
  const judgeFonts = async (content: ContentFile): Promise<void> => {
    named = content;
    refuseFonts(await fonts.refused(content));
  };
  // A font can come, or be replaced, after the content that names it; another day can begin.
  const watch = setInterval(() => {
    checker.follow();
    if (named?.style?.fonts !== undefined) void judgeFonts(named);
  }, tempo.content.boundary).unref();

  const load = async (): Promise<Buffer> => {
    const known = { playing: playing?.bytes ?? null, stored: current?.text ?? null };
    const { bytes, reading: read, changedAt } = await readContentFile(tempo, path, known);
    const isEdited = current === null || !bytes.equals(Buffer.from(current.text));
    const reading = read !== null && isEdited ? judgedFile(read) : read;
    if (reading === null) {
      issues = [];
      log.debug({}, 'content.json was saved without a change');
    } else if (reading.ok) {
      issues = [];
      // Pages get the new content without waiting for the disk.
      const given = { bytes, content: reading.content, changedAt: changedAt.toISOString() };
      const before = current;
      const { document, screenDocuments } = await edit(before, { ...given, nextCounter });
      await judgeFonts(reading.content);
      const isChanged = play(document, reading, screenDocuments);
      if (document !== before) fileEdits.add({ before: documentState(before), after: documentState(document) });
      // The write starts before the load ends; `close` waits for the load, and the store finishes writes in progress.
      if (isChanged || !isStored(document)) void store(document, screenDocuments);
      log.info({ screens: screenDocuments.size }, 'content is live');
    } else {
      issues = reading.issues;
      const consequence =
        view.screens().length === 0 ? 'there is nothing to play' : 'the last good content keeps playing';
      log.warn({ errors: issues }, `content.json is refused; ${consequence}`);
    }
    return bytes;
  };

  /** A system error while loading must not turn the screens black: the content stays. */
  const reload = async (): Promise<void> => {
    try {
      await load();
    } catch (error) {
      issues = [{ path: '', message: `content.json could not be loaded: ${(error as Error).message}` }];
      log.error({ err: error }, 'content.json could not be loaded; the previous content keeps playing');
    }
  };

  /**
   * Backs up what the rewrite of the file would destroy: an edit that the winner does not descend from, and an invalid
   * file, which the operator may be in the middle of editing.
   */
  const backUp = async (written: Buffer, winner: ContentDocument): Promise<void> => {
    const texts: Buffer[] = current !== null && isLost(current, winner) ? [Buffer.from(current.text)] : [];
    if (issues.length > 0 && written.length > 0) texts.push(written);
    for (const text of texts) {
      const name = await backups.keep(text, new Date(now()));
      if (name === null) continue;
      log.warn(
        { file: name, lost: current && versionOf(current), won: versionOf(winner) },
        'another edit replaced content.json; the replaced text was saved as a backup beside it',
      );
    }
  };

  const wins = (document: ContentDocument): boolean => current === null || compareVersions(document, current) > 0;

  const lossOf = (loser: ContentDocument, winner: ContentDocument): ReplacedVersion => ({
    sha256: loser.sha256,
    replaced_by: winner.sha256,
    at: new Date(now()).toISOString(),
    operator: loser.operator,
  });

  const noteLoss = async (document: ContentDocument): Promise<void> => {
    // One that counts fewer edits may just be old news.
    if (current === null || document.counter !== current.counter || !isUnseen(document, current)) return;
    const isKnown = kept.replaced().some(({ sha256 }) => sha256 === document.sha256);
    if (isKnown || !readDocument(Buffer.from(document.text)).ok) return;
    lastLost = document;
    losses.emit(document);
    await kept.addLoss(lossOf(document, current));
  };

  const accept = async (document: ContentDocument): Promise<ContentIssue[]> => {
    if (!wins(document)) {
      await noteLoss(document);
      return [];
    }
    const text = Buffer.from(document.text);
    const reading = readDocument(text);
    if (!reading.ok) return reading.issues;
    const screenDocuments = screenDocumentsOf(document, reading.content);
    // The file may hold an edit that polling has not noticed yet.
    const written = await load();
    if (!wins(document)) return [];
    // An unedited demo does not replace a file that the operator is writing.
    if (document.counter === 0 && issues.length > 0) return [];
    await backUp(written, document);
    if (!written.equals(text)) await rewrite(text);
    issues = [];
    log.info({ version: versionOf(document) }, "another box's content is live");
    // Stored before it is shown: after a power cut, an edit must still descend from what the operator saw.
    const replaced = current !== null && isUnseen(current, document) ? current : null;
    lastLost = replaced ?? lastLost;
    await store(document, screenDocuments, replaced && lossOf(replaced, document));
    await judgeFonts(reading.content);
    play(document, reading, screenDocuments);
    return [];
  };

  const publish = async ({ text, content, isExpected, ...by }: Publication): Promise<ContentDocument> => {
    const bytes = Buffer.from(text);
    // The file may hold an edit that polling has not noticed yet.
    const written = await load();
    if (!isExpected(current?.sha256 ?? null)) throw new CodedError('content_changed');
    const given = { bytes, content, changedAt: new Date(now()).toISOString(), ...by };
    const { document, screenDocuments } = await edit(current, { ...given, nextCounter });
    await backUp(written, document);
    if (!written.equals(bytes)) await rewrite(bytes);
    issues = [];
    if (document === current) return document;
    await judgeFonts(content);
    play(document, { content }, screenDocuments);
    log.info({ version: versionOf(document), operator: by.operator }, 'published content is live');
    await store(document, screenDocuments);
    return document;
  };

  const shownBefore = storedScreens(atStart);
  if (shownBefore !== null) {
    const reading = current === null ? null : readDocument(Buffer.from(current.text));
    if (reading?.ok) await judgeFonts(reading.content);
    show(shownBefore, reading?.ok ? reading.content : null);
    if (reading?.ok) {
      leftOut = reading.leftOut ?? [];
      checker.check(reading.content, leftOut);
    }
  } else await writeDemo(path, demo);

  // Loads run one at a time; changes during a load cause one more load.
  const enqueue = createQueue();
  let isScheduled = false;
  const unwatch = watchContentFile(tempo.content, path, () => {
    if (isScheduled) return;
    isScheduled = true;
    void enqueue(() => {
      isScheduled = false;
      return reload();
    });
  });
  // The disk may have been full. A document is offered to other boxes once it is stored.
  const storing = setInterval(() => {
    void enqueue(async () => {
      if (current !== null && playing !== null && !isStored(current)) await store(current, playing.screenDocuments);
    });
  }, tempo.content.store).unref();
  const isFirstContent = current === null;
  await enqueue(reload);
  if (isFirstContent) fileEdits.forget();
  // Nothing here reads the schema.
  const schemaTimer = setTimeout(() => {
    writeSchema(join(dirs.data, 'content.schema.json')).catch((error: unknown) => {
      log.warn({ err: error }, 'content.schema.json could not be written; editors cannot complete content.json');
    });
  }, tempo.content.schema).unref();

  return {
    ...view,
    status: () => ({ status: issues.length === 0 ? 'ok' : 'invalid', errors: issues }),
    // Secrets are set, changed and deleted after the content that names them.
    warnings: async () => [...(await checker.warnings()), ...(named === null ? [] : secrets.publicWarnings(named))],
    judge: checker.judge,
    validate: (json) => judged(validateContent(json)),
    playing: () => current,
    isWhole: () => leftOut.length === 0,
    publish: (publication) =>
      enqueue(() => publish(publication)).catch((error: unknown) => {
        throw isFull(error) ? new CodedError('insufficient_storage', undefined, { cause: error }) : error;
      }),
    document: (sha256) => (sha256 === lastLost?.sha256 ? lastLost : null) ?? kept.document(),
    observeCounter: (counter) => {
      highest = Math.max(highest, counter);
    },
    accept: (document) => enqueue(() => accept(document)),
    onPlay: plays.on,
    onFileEdit: fileEdits.on,
    onDocument: kept.onDocument,
    onLoss: losses.on,
    replaced: kept.replaced,
    lost: backups.list,
    close: async () => {
      clearTimeout(schemaTimer);
      clearInterval(watch);
      clearInterval(storing);
      closePayloads();
      unwatch();
      await enqueue(async () => {});
      await checker.close();
    },
  };
};
