/**
 * Restores a backup: reads it to the disk, checks all of it, and only then makes it an edit of now. What was checked lies in
 * a folder of its own until all of it is done, so that the next start finishes what a power cut interrupted.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { access, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract } from 'tar-stream';
import { z } from 'zod';
import { checkBody } from '../auth/signatures.ts';
import { type Content, validateContent } from '../content/index.ts';
import {
  backupFormat,
  backupRecords,
  type Manifest,
  manifestName,
  manifest as manifestSchema,
  mostManifestBytes,
  mostRecordBytes,
  type Restored,
  storedVersion,
} from '../contract/console/backup.ts';
import type { ContentFile } from '../contract/content.ts';
import { CodedError, tooManyRequests } from '../contract/errors.ts';
import { tryParse } from '../contract/fields.ts';
import { type Author, author } from '../contract/terms.ts';
import type { Devices } from '../devices/index.ts';
import { isMediaName } from '../domain/media-names.ts';
import { isPlausible } from '../domain/merge.ts';
import type { Drafts } from '../drafts/index.ts';
import type { Media } from '../media/index.ts';
import type { ServiceContext } from '../module.ts';
import type { People } from '../people/index.ts';
import { OptionsError } from '../platform/options/index.ts';
import { isFull, isMissing, systemDisk } from '../platform/store/disk.ts';
import type { Takeovers } from '../takeovers/index.ts';
import type { Triggers } from '../triggers/index.ts';
import type { RequireKnown } from './require-known.ts';
import { createRestoreConfig } from './restore-config.ts';
import type { VersionStore } from './version-store.ts';

export interface RestoreDependencies {
  content: Pick<Content, 'playing' | 'validate' | 'publish' | 'observeCounter'>;
  media: Pick<Media, 'adopt' | 'endAdoption' | 'requireSpool' | 'requireAdoption' | 'spoolFolder'>;
  devices: Pick<Devices, 'restore'>;
  takeovers: Pick<Takeovers, 'restore'>;
  versions: Pick<VersionStore, 'record'>;
  people: Pick<People, 'restore'>;
  drafts: Pick<Drafts, 'restore'>;
  triggers: Pick<Triggers, 'restore'>;
  requireKnown: RequireKnown;
}

type RestoreContext = Pick<ServiceContext, 'options' | 'dirs' | 'log' | 'now' | 'tempo'>;

interface Body {
  stream: Readable;
  /** The Content-Length; null if the client sends none. */
  length: number | null;
  /** The SHA-256 (hex) in the request's signature; null for an unsigned request. */
  bodySha256: string | null;
  /** Called once it is there, and before anything is changed. @throws CodedError where who sends it may not any more */
  judgeAgain(): void;
}

const unfinished =
  'The content of the backup plays; the rest is restored when the player starts again within a day, or by restoring it again.';
/** For how long a start finishes a restore. */
const LONGEST_MS = 24 * 60 * 60_000;
/** The name of the file that says that the content plays. */
const begunName = 'begun';

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Room in a tar for the heads, the padding and the long names of a member, bytes. */
const memberBytes = 4 * 1024;

const damaged = (message: string): CodedError => new CodedError('backup_damaged', `The backup is damaged: ${message}.`);

/** @throws CodedError `backup_damaged` */
const parse = <Schema extends z.ZodType>(schema: Schema, text: string | undefined, path: string): z.output<Schema> => {
  let value: unknown;
  try {
    value = text === undefined ? undefined : JSON.parse(text);
  } catch {
    throw damaged(`${path} is not JSON`);
  }
  const result = tryParse(schema, value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw damaged(`${path} has another form${issue === undefined ? '' : ` at ${issue.path.join('.') || 'its top'}`}`);
};

/** @throws CodedError `backup_newer`, `backup_damaged` */
const parseManifest = (text: string): Manifest => {
  const { format } = parse(manifestSchema.pick({ format: true }), text, manifestName);
  if (format > backupFormat) throw new CodedError('backup_newer');
  const manifest = parse(manifestSchema, text, manifestName);
  const paths = manifest.members.map(({ path }) => path);
  if (new Set(paths).size !== paths.length) throw damaged(`${manifestName} names a member twice`);
  if (new Set(manifest.media.map(({ name }) => name)).size !== manifest.media.length)
    throw damaged(`${manifestName} names a medium twice`);
  for (const { name, sha256 } of manifest.media) {
    if (!isMediaName(name)) throw damaged(`${JSON.stringify(name.slice(0, 100))} is no name of a medium`);
    if (!paths.includes(`media/${sha256}`)) throw damaged(`the file of ${JSON.stringify(name)} is not in it`);
  }
  return manifest;
};

/** The names of the media; none where the manifest cannot be read. */
const mediaNamesIn = (text: string): string[] => {
  try {
    return parseManifest(text).media.map(({ name }) => name);
  } catch {
    return [];
  }
};

const textOf = async (stream: AsyncIterable<Buffer>, most: number, path: string): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > most) throw damaged(`${path} is too large`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
};

/** Of the operator, and of the person who proved to be one; no member has these names. */
const [operatorName, personName] = ['operator', 'person'];

interface By {
  operator: string | null;
  person: Author | null;
}

const configSchema = z.record(z.string(), z.unknown());

interface Spooled {
  manifest: Manifest;
  /** Where a member lies. */
  fileOf(path: string): string;
}

export const createRestore = (
  { options, dirs, log, now, tempo }: RestoreContext,
  { content, media, devices, takeovers, versions, people, drafts, triggers, requireKnown }: RestoreDependencies,
) => {
  let isBusy = false;
  /** Whether the content of the backup plays, so that the rest must follow. */
  let isBegun = false;
  /** There only while a backup that was read and judged is applied. */
  const ready = join(media.spoolFolder, '.restoring');
  const spooledIn =
    (folder: string) =>
    (path: string): string =>
      join(folder, path.replaceAll('/', '-'));

  const settings = createRestoreConfig({ options, dirs });

  /**
   * Writes the members to a folder. Media have the quota; whether all of it fits is what the disk says.
   * @throws CodedError `backup_damaged`, `backup_newer`, `payload_too_large`, `insufficient_storage`
   */
  const spool = async ({ stream, length, bodySha256 }: Body, folder: string): Promise<Spooled> => {
    const whole = createHash('sha256');
    const quota = options.mediaQuotaBytes;
    let received = 0;
    /** Bytes of the body at most; with the manifest it is known what comes. */
    let most = quota + mostManifestBytes;
    let still: NodeJS.Timeout | undefined;
    const counted = new Transform({
      transform: (chunk: Buffer, _, done) => {
        received += chunk.length;
        still?.refresh();
        whole.update(chunk);
        if (received > most) done(new CodedError('payload_too_large'));
        else done(null, chunk);
      },
    });
    still = setInterval(() => {
      // While a member is written or flushed, a slow disk keeps the client waiting.
      if (!stream.readableEnded && !counted.writableNeedDrain) counted.destroy(new CodedError('request_timeout'));
    }, tempo.http.still);
    const tar = extract();
    const fileOf = spooledIn(folder);
    let manifest: Manifest | null = null;
    const missing = new Map<string, Manifest['members'][number]>();
    const reading = (async () => {
      for await (const entry of tar) {
        const { name, type } = entry.header;
        const bytes = entry as unknown as AsyncIterable<Buffer>;
        if (type !== 'file') throw damaged('it has a member that is no file');
        if (manifest === null) {
          if (name !== manifestName) throw damaged(`it does not begin with ${manifestName}`);
          const head = await textOf(bytes, mostManifestBytes, manifestName);
          manifest = parseManifest(head);
          await writeFile(fileOf(manifestName), head, { mode: 0o600, flush: true });
          for (const member of manifest.members) missing.set(member.path, member);
          const sizeOf = (members: Manifest['members']): number => members.reduce((sum, { size }) => sum + size, 0);
          const total = sizeOf(manifest.members);
          if (sizeOf(manifest.members.filter(({ path }) => path.startsWith('media/'))) > quota)
            throw new CodedError('payload_too_large');
          await media.requireSpool(total);
          most = total + head.length + mostManifestBytes + manifest.members.length * memberBytes;
          continue;
        }
        const member = missing.get(name);
        if (member === undefined) throw damaged(`${manifestName} does not name a member of it`);
        missing.delete(name);
        const hash = createHash('sha256');
        let size = 0;
        const measure = async function* (): AsyncGenerator<Buffer> {
          for await (const chunk of bytes) {
            size += chunk.length;
            if (size > member.size) throw damaged(`${name} is too large`);
            hash.update(chunk);
            yield chunk;
          }
        };
        await pipeline(measure(), createWriteStream(fileOf(name), { mode: 0o600, flush: true }));
        if (size !== member.size || hash.digest('hex') !== member.sha256) throw damaged(`${name} is not what it was`);
      }
    })();
    reading.catch((error: Error) => tar.destroy(error));
    const onClose = (): void => {
      const message = 'The connection ended before the backup was complete.';
      if (!stream.readableEnded) counted.destroy(new CodedError('invalid_request', message));
    };
    // Not in a pipeline: the answer to what is refused goes out on the connection of the request.
    stream.on('close', onClose).on('error', onClose);
    if (stream.destroyed) onClose();
    stream.pipe(counted);
    try {
      const [passed, read] = await Promise.allSettled([pipeline(counted, tar), reading]);
      const errors = [passed, read].flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
      // A body without a manifest that exceeds the media quota is refused for its size, not as damaged.
      if (manifest === null && (length ?? received) > quota) throw new CodedError('payload_too_large');
      const told = errors.find((error) => error instanceof CodedError || isFull(error)) ?? errors[0];
      if (told !== undefined) throw told instanceof CodedError || isFull(told) ? told : damaged(told.message);
    } finally {
      clearInterval(still);
      stream.unpipe(counted).off('close', onClose).off('error', onClose);
    }
    checkBody(whole.digest('hex'), bodySha256);
    const [absent] = missing.keys();
    if (manifest === null) throw damaged('it is empty');
    if (absent !== undefined) throw damaged(`${absent} is not in it`);
    return { manifest, fileOf };
  };

  /** Everything but the media, judged. @throws CodedError `backup_damaged`, `invalid_content` */
  const judge = async ({ manifest, fileOf }: Spooled, folder: string, validate: Content['validate']) => {
    const paths = manifest.members.map(({ path }) => path);
    const read = async (path: string): Promise<string | null> => {
      const member = manifest.members.find((each) => each.path === path);
      if (member === undefined) return null;
      if (member.size > mostRecordBytes) throw damaged(`${path} is too large`);
      return readFile(fileOf(path), 'utf8');
    };
    const text = await read('content.json');
    let file: ContentFile | null = null;
    if (text !== null) {
      let value: unknown;
      try {
        value = JSON.parse(text.replace(/^\uFEFF/, ''));
      } catch {
        throw damaged('content.json is not JSON');
      }
      const reading = validate(value);
      if (!reading.ok) throw new CodedError('invalid_content', undefined, { errors: reading.issues });
      file = reading.content;
    }
    const listed = async <Schema extends z.ZodType>(name: string, schema: Schema): Promise<z.output<Schema>> => {
      const path = `records/${name}.json`;
      return parse(schema, (await read(path)) ?? undefined, path);
    };
    const { shape } = backupRecords;
    const records = {
      devices: await listed('devices', shape.devices),
      takeovers: await listed('takeovers', shape.takeovers),
      people: await listed('people', shape.people),
      drafts: await listed('drafts', shape.drafts),
      triggers: await listed('triggers', shape.triggers),
    };
    const known = Object.keys(records).map((name) => `records/${name}.json`);
    const unknown = paths.filter((path) => path.startsWith('records/') && !known.includes(path));
    // Their texts would fill the memory: they are read again when they are applied.
    const stored: { path: string; counter: number }[] = [];
    for (const path of paths.filter((each) => each.startsWith('versions/'))) {
      const { counter } = parse(storedVersion, (await read(path)) ?? '', path);
      stored.push({ path, counter });
    }
    const configText = await read('config.json');
    const given = configText === null ? {} : parse(configSchema, configText, 'config.json');
    const stripped = manifest.without_password ?? [];
    const config = await settings.judge({ given, stripped }, folder).catch((error: unknown) => {
      throw error instanceof OptionsError ? damaged(error.message) : error;
    });
    return {
      content: text === null || file === null ? null : { text, file },
      records,
      versions: stored,
      config,
      unknown,
    };
  };

  type Judged = Awaited<ReturnType<typeof judge>>;

  /** Brings in the media, and then the content, which must find them. A later failure must not repeat this step. */
  const begin = async (
    { manifest, fileOf }: Spooled,
    judged: Judged,
    by: By,
    folder: string,
  ): Promise<Restored['content']> => {
    const [notYet, begun] = [join(folder, 'not-begun'), join(folder, begunName)];
    if (await isThere(begun)) return null;
    // On a full disk it can still be renamed.
    await writeFile(notYet, '', { flush: true });
    const undo = await media.adopt(
      manifest.media.map(({ name, sha256 }) => ({ name, sha256, path: fileOf(`media/${sha256}`) })),
      folder,
    );
    let document: Restored['content'] = null;
    try {
      if (judged.content !== null) {
        const { text, file } = judged.content;
        // What is restored now is newer than the versions of the backup, also where another box made those.
        const own = content.playing()?.counter ?? 0;
        const earlier = judged.versions.map(({ counter }) => counter).filter((counter) => isPlausible(counter, own));
        content.observeCounter(Math.max(own, ...earlier));
        const published = await content.publish({ text, content: file, isExpected: () => true, ...by });
        document = { sha256: published.sha256, changedAt: published.changedAt };
      }
    } catch (error) {
      await undo();
      throw error;
    }
    await rename(notYet, begun);
    await systemDisk.syncFolder(folder);
    return document;
  };

  /** Removes what was to be restored. Unless the content plays, what its media have replaced comes back first. */
  const discard = async (): Promise<void> => {
    if ((await isThere(ready)) && !(await isThere(join(ready, begunName)))) {
      const text = await readFile(spooledIn(ready)(manifestName), 'utf8').catch(() => '');
      await media.endAdoption(ready, mediaNamesIn(text));
    }
    await rm(ready, { recursive: true, force: true });
  };
  const discardOrLog = (): Promise<void> =>
    discard().catch((error: unknown) => log.error({ err: error }, 'what a restore has left could not be put back'));

  const apply = async (
    spooled: Spooled,
    judged: Judged,
    by: By,
    folder: string,
  ): Promise<Omit<Restored, 'restart_required'>> => {
    const leftOut: string[] = judged.unknown.map((path) => `${path} is not known to this version.`);
    for (const name of spooled.manifest.without_media ?? [])
      leftOut.push(
        `The file ${JSON.stringify(name)} is not in the backup: the box that wrote it did not have the file, or could not read it.`,
      );
    const document = await begin(spooled, judged, by, folder);
    isBegun = true;
    for (const { path } of judged.versions)
      await versions.record(parse(storedVersion, await readFile(spooled.fileOf(path), 'utf8'), path));
    const bindings = await devices.restore(judged.records.devices);
    const ended = await takeovers.restore(judged.records.takeovers);
    leftOut.push(...(await people.restore(judged.records.people)));
    leftOut.push(...(await drafts.restore(judged.records.drafts)));
    leftOut.push(...(await triggers.restore(judged.records.triggers)));
    leftOut.push(...ended.leftOut.map((id) => `The takeover ${id} runs here, and stays as it is.`));
    const { taken, left, bare } = await settings.write(judged.config);
    leftOut.push(
      ...judged.config.misfits.map(
        (name) =>
          `The setting ${name} of config.json does not fit those of this box: the site of a fleet has 1 to 64 of a-z, A-Z, 0-9, _ and -.`,
      ),
      ...left.map((name) => `The setting ${name} of config.json belongs to the box that it was written on.`),
      ...bare.map((name) => `A backup has no passwords: write that of ${name} into config.json.`),
    );
    return {
      content: document,
      media: spooled.manifest.media.length,
      versions: judged.versions.length,
      bindings,
      takeovers: ended.count,
      settings: taken,
      left_out: leftOut,
    };
  };

  return {
    /**
     * Restores a backup, all of it or nothing.
     * @throws CodedError `backup_damaged`, `backup_newer`, `invalid_content`, `payload_too_large`, `insufficient_storage`,
     *   `too_many_requests` while another one is restored
     */
    restore: async (body: Body, by: By): Promise<Omit<Restored, 'restart_required'>> => {
      if (isBusy) {
        throw tooManyRequests(10, 'Another backup is being restored; try again once it is done.');
      }
      isBusy = true;
      isBegun = false;
      let isDone = false;
      let isReady = false;
      const folder = join(media.spoolFolder, `.restore-${randomUUID()}`);
      try {
        await mkdir(folder, { mode: 0o700 });
        const { manifest } = await spool(body, folder);
        const spooled = { manifest, fileOf: spooledIn(ready) };
        const judged = await judge({ manifest, fileOf: spooledIn(folder) }, folder, content.validate);
        const sizes = new Map(manifest.members.map(({ path, size }) => [path, size]));
        // A document that this box does not know may have come while the backup was sent.
        requireKnown();
        await media.requireAdoption(
          manifest.media.map(({ name, sha256 }) => ({ name, sha256, size: sizes.get(`media/${sha256}`) ?? 0 })),
        );
        for (const [name, value] of [
          [operatorName, by.operator],
          [personName, by.person],
        ] as const)
          await writeFile(join(folder, name), JSON.stringify(value), { mode: 0o600, flush: true });
        await systemDisk.syncFolder(folder);
        // Who asked may have lost the right meanwhile.
        body.judgeAgain();
        // One that could not be finished is replaced.
        await discard();
        await rename(folder, ready);
        isReady = true;
        await systemDisk.syncFolder(media.spoolFolder);
        const result = await apply(spooled, judged, by, ready);
        isDone = true;
        log.warn({ operator: by.operator, media: result.media, from: spooled.manifest.name }, 'a backup was restored');
        return result;
      } catch (error) {
        if (isBegun) log.error({ err: error }, unfinished);
        if (isFull(error) || (isBegun && error instanceof CodedError && error.code === 'insufficient_storage'))
          throw new CodedError('insufficient_storage', isBegun ? unfinished : undefined, { cause: error });
        throw error;
      } finally {
        await rm(folder, { recursive: true, force: true }).catch(() => undefined);
        if (isReady && (isDone || !isBegun)) await discardOrLog();
        isBusy = false;
      }
    },

    /** Finishes the restore that the last end of the service interrupted, if there is one. */
    resume: async (): Promise<void> => {
      isBusy = true;
      isBegun = false;
      let isDone = false;
      try {
        const fileOf = spooledIn(ready);
        // After a while it would undo what people have done since.
        const begun = await stat(join(ready, begunName)).catch(() => null);
        if (begun !== null && Math.abs(now() - begun.mtimeMs) > LONGEST_MS)
          throw new Error('its content has played for more than a day');
        const operator = z
          .string()
          .nullable()
          .parse(JSON.parse(await readFile(join(ready, operatorName), 'utf8')));
        // A version before this one wrote none.
        const proven = await readFile(join(ready, personName), 'utf8').catch(() => 'null');
        const by = { operator, person: author.nullable().parse(JSON.parse(proven)) };
        const spooled = { manifest: parseManifest(await readFile(fileOf(manifestName), 'utf8')), fileOf };
        if (begun === null) requireKnown();
        // Judged before; the secrets may have changed since.
        const { media: count } = await apply(spooled, await judge(spooled, ready, validateContent), by, ready);
        isDone = true;
        log.warn({ operator, media: count, from: spooled.manifest.name }, 'an interrupted restore was finished');
      } catch (error) {
        if (isBegun) log.error({ err: error }, unfinished);
        else if (!isMissing(error))
          log.error({ err: error }, 'an interrupted restore cannot be finished; restore it again');
      } finally {
        if (isDone || !isBegun) await discardOrLog();
        isBusy = false;
      }
    },
  };
};
