/** Writes a backup of the box: content, versions, media, records and settings as one tar. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { pack } from 'tar-stream';
import type { Content } from '../content/index.ts';
import { type BackupRecords, backupFormat, type Manifest, manifestName } from '../contract/console/backup.ts';
import { CodedError } from '../contract/errors.ts';
import type { Devices } from '../devices/index.ts';
import type { Drafts } from '../drafts/index.ts';
import type { Media } from '../media/index.ts';
import type { ServiceContext } from '../module.ts';
import type { People } from '../people/index.ts';
import { readConfig } from '../platform/options/index.ts';
import { backupConfig, strippedSettings } from '../platform/options/portable.ts';
import type { Takeovers } from '../takeovers/index.ts';
import type { Triggers } from '../triggers/index.ts';
import type { VersionStore } from './version-store.ts';

export interface BackupDependencies {
  content: Pick<Content, 'playing' | 'mediaNames'>;
  media: Pick<Media, 'list' | 'open' | 'unread' | 'currentName'>;
  devices: Pick<Devices, 'list'>;
  takeovers: Pick<Takeovers, 'open'>;
  versions: Pick<VersionStore, 'list' | 'read'>;
  people: Pick<People, 'records'>;
  drafts: Pick<Drafts, 'list' | 'get'>;
  triggers: Pick<Triggers, 'list'>;
}

/** How long a backup waits for media that are read for the first time; a client waits 30 s. */
const [READS, READ_MS] = [100, 100];
const stillRead = 'Media that came to this box by hand are still being read; back it up once that is done.';

type BackupContext = Pick<ServiceContext, 'options' | 'version' | 'ids' | 'machineName' | 'dirs' | 'now'>;

interface Member {
  path: string;
  type: string;
  modifiedAt: string;
  /** Where it is known; else it is read twice: for its hash, and when it is sent. */
  known?: { size: number; sha256: string };
  /** Null: it is gone. @throws Error if it was replaced */
  read(): Promise<Readable | null>;
}

const json = (value: unknown): (() => Promise<Readable>) => {
  const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
  return async () => Readable.from([bytes]);
};

const measure = async (stream: Readable): Promise<{ size: number; sha256: string }> => {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    hash.update(chunk);
  }
  return { size, sha256: hash.digest('hex') };
};

export const createBackup = (
  { options, version, ids: { nodeId }, machineName, dirs, now }: BackupContext,
  { content, media, devices, takeovers, versions, people, drafts, triggers }: BackupDependencies,
) => {
  const versionMembers = async (): Promise<Member[]> =>
    (await versions.list()).map((head) => ({
      path: `versions/${head.sha256}.json`,
      type: 'application/json',
      modifiedAt: head.changedAt,
      read: async () => {
        const found = await versions.read(head.sha256);
        if (found === null) return null;
        const chunks: Buffer[] = [];
        for await (const chunk of found.stream() as AsyncIterable<Buffer>) chunks.push(chunk);
        const { counter, nodeId: of, sha256, changedAt, operator, person, approved_by } = head;
        const by = { operator, person, approved_by };
        return json({ counter, nodeId: of, sha256, changedAt, ...by, text: Buffer.concat(chunks).toString() })();
      },
    }));

  /** One for each hash, under whatever names it is kept. */
  const mediaMembers = async (): Promise<{ members: Member[]; names: Manifest['media']; missing: string[] }> => {
    await media.list(0);
    const missing = media.unread();
    for (let waits = 0; media.unread().size > 0; waits += 1) {
      if (waits === READS) throw new CodedError('busy', stillRead, { headers: { 'Retry-After': '60' } });
      await wait(READ_MS);
    }
    const entries = await media.list(0);
    // Another box may have them, or nobody.
    for (const name of content.mediaNames()) missing.add(media.currentName(name));
    for (const { name } of entries) missing.delete(name);
    const names = entries.map(({ name, sha256, modifiedAt }) => ({ name, sha256, modified_at: modifiedAt }));
    const byHash = new Map(entries.map((entry) => [entry.sha256, entry]));
    const members = [...byHash.values()].map(({ name, sha256, size, mediaType, modifiedAt }) => ({
      path: `media/${sha256}`,
      type: mediaType,
      modifiedAt,
      // A large library takes longer to read than a client waits for the first byte.
      known: { size, sha256 },
      read: async () => {
        const { handle } = await media.open(name);
        return handle.createReadStream({ start: 0 });
      },
    }));
    return { members, names, missing: [...missing] };
  };

  const collect = async (): Promise<
    { members: Member[] } & Pick<Manifest, 'media' | 'without_password' | 'without_media'>
  > => {
    const at = new Date(now()).toISOString();
    const files = await mediaMembers();
    const playing = content.playing();
    const records: BackupRecords = {
      devices: devices.list().filter(({ forgotten }) => !forgotten),
      takeovers: takeovers.open(),
      people: people.records(),
      drafts: (await Promise.all(drafts.list().map(({ id }) => drafts.get(id)))).filter((draft) => draft !== null),
      triggers: triggers.list(),
    };
    const type = 'application/json';
    const { toldTimeZone } = options;
    const config = {
      ...(toldTimeZone !== null && { timeZone: toldTimeZone }),
      ...readConfig(join(dirs.data, 'config.json')),
    };
    const members: Member[] = [
      ...(playing === null
        ? []
        : [
            {
              path: 'content.json',
              type,
              modifiedAt: playing.changedAt,
              read: async () => Readable.from([Buffer.from(playing.text)]),
            },
          ]),
      { path: 'config.json', type, modifiedAt: at, read: json(backupConfig(config)) },
      ...Object.entries(records).map(([name, value]) => ({
        path: `records/${name}.json`,
        type,
        modifiedAt: at,
        read: json(value),
      })),
      ...(await versionMembers()),
      ...files.members,
    ];
    const rest = { without_password: strippedSettings(config), without_media: files.missing };
    return { members, media: files.names, ...rest };
  };

  return {
    /**
     * Resolves with a stream of the tar. It fails while it is read if a medium was replaced since it began: a backup is whole
     * or none.
     */
    write: async (): Promise<Readable> => {
      const { members, ...rest } = await collect();
      const measured: (Member & { known: { size: number; sha256: string } })[] = [];
      for (const member of members) {
        const bytes = member.known === undefined ? await member.read() : null;
        const known = member.known ?? (bytes && (await measure(bytes)));
        if (known !== null) measured.push({ ...member, known });
      }
      const manifest: Manifest = {
        format: backupFormat,
        version,
        site: options.site,
        node_id: nodeId,
        name: machineName,
        created_at: new Date(now()).toISOString(),
        members: measured.map(({ path, type, known, modifiedAt }) => ({
          path,
          type,
          ...known,
          modified_at: modifiedAt,
        })),
        ...rest,
      };
      const tar = pack();
      const add = async ({ path, modifiedAt, known, read }: Omit<(typeof measured)[number], 'type'>): Promise<void> => {
        const { size, sha256 } = known;
        const replaced = (): Error => new Error(`${path} was replaced while the backup was written`);
        const entry = tar.entry({ name: path, size, mtime: new Date(modifiedAt), mode: 0o600 }, () => undefined);
        // The tar may end before there is anything to read, which is heard there.
        entry.on('error', () => undefined);
        const source = await read();
        if (source === null) throw replaced();
        await pipeline(
          source,
          async function* (bytes: AsyncIterable<Buffer>) {
            const hash = createHash('sha256');
            let written = 0;
            for await (const chunk of bytes) {
              written += chunk.length;
              if (written > size) throw replaced();
              hash.update(chunk);
              yield chunk;
            }
            if (written !== size || hash.digest('hex') !== sha256) throw replaced();
          },
          entry,
        );
      };
      const fill = async (): Promise<void> => {
        const head = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
        const read = async (): Promise<Readable> => Readable.from([head]);
        const known = await measure(await read());
        await add({ path: manifestName, modifiedAt: manifest.created_at, known, read });
        for (const member of measured) await add(member);
        tar.finalize();
      };
      fill().catch((error: Error) => tar.destroy(error));
      return Readable.from(tar, { objectMode: false });
    },
  };
};
