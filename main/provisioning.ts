/** Provisioning of a box without a keyboard: imports a `config.json` from the boot partition or a USB stick. */
import { createHash } from 'node:crypto';
import { constants, readFileSync } from 'node:fs';
import { mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { singleFlight } from '../service/domain/single-flight.ts';
import { changeConfig, keepSecret, pathSettingIn, secretIn, withoutSecret, writePrivate } from '../service/public.ts';

const parse = (bytes: Uint8Array): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(
      Buffer.from(bytes)
        .toString()
        .replace(/^\uFEFF/, ''),
    );
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};

/**
 * What is imported: a file without a secret keeps the one that is there, and a stick without a network the one that a phone has
 * named. Pure. @param current null: there is none
 */
const withOwnOf = (imported: Buffer, current: Uint8Array | null, isTrusted: boolean): Buffer => {
  const given = parse(imported);
  const own = parse(current ?? new Uint8Array());
  const { network } = objectIn(own['kiosk']);
  const kiosk = objectIn(given['kiosk']);
  const isCutOff = !isTrusted && network !== undefined && kiosk['network'] === undefined;
  const kept = keepSecret(own, isCutOff ? { ...given, kiosk: { ...kiosk, network } } : given);
  return kept === given ? imported : Buffer.from(`${JSON.stringify(kept, null, 2)}\n`);
};

/** The proof in a file that its author may change this box. */
export interface Proof {
  what: 'secret' | 'pin';
  value: string;
}

const objectIn = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

/**
 * What a stick may change of a box that has a configuration: its network, and nothing else. Pure.
 * @returns the network and its proof, or why the file is refused
 */
export const networkIn = (config: Record<string, unknown>): { network: unknown; proof: Proof } | string => {
  const { kiosk, ...rest } = config;
  const { network, pin, ...others } = objectIn(kiosk);
  const secret = secretIn(rest);
  const more = [...Object.keys(withoutSecret(rest)), ...Object.keys(others).map((name) => `kiosk.${name}`)];
  const [first] = more;
  if (first !== undefined)
    return `this box has a configuration, of which a stick may change kiosk.network alone; the file also has ${JSON.stringify(first.slice(0, 64))}`;
  if (network === undefined) return 'it has no kiosk.network, which is all that a stick may change here';
  if (secret !== undefined) return { network, proof: { what: 'secret', value: String(secret) } };
  if (typeof pin === 'string') return { network, proof: { what: 'pin', value: pin } };
  return 'it needs the sharedSecret of the site or the kiosk.pin of this box, to change kiosk.network';
};

/** What proves that the author of a whole configuration may set up this box: any of these. Pure. */
const proofsIn = ({ kiosk, ...rest }: Record<string, unknown>): Proof[] => {
  const { pin } = objectIn(kiosk);
  const secret = secretIn(rest);
  return [
    ...(typeof pin === 'string' ? [{ what: 'pin', value: pin } as const] : []),
    ...(secret === undefined ? [] : [{ what: 'secret', value: String(secret) } as const]),
  ];
};

/** Whether a display of the box may have had a screen, by its `kiosk.json`: one that was never bound tells so. */
export const mayHaveBeenBound = (path: string): boolean => {
  try {
    // The state within its envelope.
    return objectIn(objectIn(parse(readFileSync(path))['body'])['past'])['bound'] !== false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
};

interface ProvisioningPorts {
  log: Pick<Logger, 'info' | 'warn'>;
  /**
   * Validates the `config.json` in a folder.
   * @throws Error with a message for the operator if a value is not allowed
   * @returns warnings
   */
  check(folder: string): readonly string[];
  /** Whether a proof is right; null: it cannot be told yet, as after too many wrong ones. */
  isRight(proof: Proof): Promise<boolean | null>;
  /** Whether a display has or had a screen. */
  wasBound(): boolean;
  /** Whether this box has a PIN or a secret; null: it cannot be told yet. */
  isProtected(): boolean | null;
  /** Keeps a valid network of the configuration. */
  setNetwork(network: unknown): Promise<void>;
}

export interface ProvisioningSources {
  /** Folders that only an administrator, or a person who opens the box, can write to. A changed file is imported again. */
  trusted: readonly string[];
  /**
   * Drives, or folders of the mount points of USB sticks. Any passer-by can plug in a stick: once the box has a configuration,
   * they change its network alone, with a proof. A box that was set up without one takes a whole configuration with a proof.
   */
  removable: readonly string[];
  /** How many levels of subfolders of those are searched: none on Windows, where a drive may be a full disk. */
  levels: 0 | 2;
}

export const provisioningSources = (platform: NodeJS.Platform, programDir: string): ProvisioningSources =>
  platform === 'win32'
    ? { trusted: [programDir], removable: [...'DEFGHIJKLMNOPQRSTUVWXYZ'].map((letter) => `${letter}:\\`), levels: 0 }
    : {
        trusted: ['/etc/signage-player', '/boot/firmware', '/boot', programDir],
        removable: ['/media', '/run/media'],
        levels: 2,
      };

/** A larger file is no configuration. */
const MAX_BYTES = 256 * 1024;
/** How many imported files are remembered. */
const MAX_IMPORTED = 50;
/** How many files that were refused or ignored are remembered. */
const MAX_REFUSED = 200;
/** How many subfolders of a folder are searched. */
const MAX_FOLDERS = 16;

/**
 * Reads a small regular file. `config.json` may as well be a folder, a pipe that never ends, or huge.
 * @returns null if there is no file, a reason if it cannot be used
 */
const readSmallFile = async (path: string): Promise<Buffer | string | null> => {
  try {
    if (!(await stat(path)).isFile()) return 'it is not a regular file';
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      if (!(await file.stat()).isFile()) return 'it is not a regular file';
      const buffer = Buffer.alloc(MAX_BYTES + 1);
      let length = 0;
      for (let read = -1; read !== 0 && length < buffer.length; length += read) {
        read = (await file.read(buffer, length)).bytesRead;
      }
      return length <= MAX_BYTES ? buffer.subarray(0, length) : `it is larger than ${MAX_BYTES / 1024} KiB`;
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? null : message;
  }
};

const foldersIn = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory())
    .slice(0, MAX_FOLDERS)
    .map(({ name }) => join(folder, name));
};

export const createProvisioning = (
  { log, check, isRight, wasBound, isProtected, setNetwork }: ProvisioningPorts,
  { dataDir, sources }: { dataDir: string; sources: ProvisioningSources },
) => {
  const target = join(dataDir, 'config.json');
  /** The hashes of imported files, so that a file that stays in its folder does not undo later edits. */
  const importedPath = join(dataDir, 'config.imported');
  /** The keys of what the log told of. */
  const refused = new Set<string>();
  /** If the hashes cannot be saved, one import per start is enough: two sources would restart the box forever. */
  let isFinished = false;

  /** Why a file is refused; null: it is valid. @param isMeant whether it is for this box even where it says nothing */
  const refusalOf = async (bytes: Buffer, isMeant: boolean): Promise<string | null> => {
    const folder = await mkdtemp(join(tmpdir(), 'signage-config-'));
    try {
      await writeFile(join(folder, 'config.json'), bytes, { mode: 0o600 });
      // An unknown setting is a typing error, or the file belongs to another program.
      const unknown = check(folder).find((warning) => warning.startsWith('config.json:'));
      if (unknown !== undefined) return unknown;
      // An empty object. On a stick, nothing indicates that it is meant for this box.
      return isMeant ? null : 'it contains no settings';
    } catch (error) {
      return (error as Error).message;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };

  /** Whether this is the first call with a key. */
  const isFirst = (key: string): boolean => {
    if (refused.has(key)) return false;
    if (refused.size >= MAX_REFUSED) refused.clear();
    refused.add(key);
    return true;
  };

  const refuse = (key: string, path: string, reason: string): void => {
    if (isFirst(key)) log.warn({ path, reason }, 'a configuration was found but not imported');
  };

  const readImported = async (): Promise<string[]> =>
    (await readFile(importedPath, 'utf8').catch(() => ''))
      .split('\n')
      // The headless package, whose data this may be, writes them as sha256sum prints them.
      .map((line) => line.replace(/ +-$/, ''))
      .filter((line) => line !== '');

  /**
   * Root looks at the file of the hashes, too: it sets the network then. What was last imported from a trusted path has a line
   * with that path as well.
   */
  const remember = (imported: readonly string[], hash: string, path: string, isTrusted: boolean): Promise<void> => {
    const others = imported.filter((line) => line !== hash && !line.endsWith(`  ${path}`));
    const lines = [...others, hash, ...(isTrusted ? [`${hash}  ${path}`] : []), ''];
    return writePrivate(importedPath, lines.slice(-MAX_IMPORTED).join('\n')).catch((error: unknown) => {
      isFinished = true;
      log.warn({ err: error, path }, 'the import of a configuration could not be recorded, so it may be repeated');
    });
  };

  /** Whether a file was imported before: as the last one of its path, or from any path where there is no last one. */
  const wasImported = (imported: readonly string[], hash: string, path: string): boolean => {
    const last = imported.find((line) => line.endsWith(`  ${path}`));
    if (last === undefined ? !imported.includes(hash) : last !== `${hash}  ${path}`) return false;
    if (isFirst(`imported ${hash} ${path}`)) log.info({ path }, 'a configuration that was imported before is ignored');
    return true;
  };

  /** Why a whole configuration is refused on a box that has a PIN or a secret; null: it is proven; undefined: not judged yet. */
  const missingProof = async (config: Record<string, unknown>): Promise<string | null | undefined> => {
    const proofs = proofsIn(config);
    if (proofs.length === 0) return 'this box was set up before, so the file needs its kiosk.pin, or the sharedSecret';
    for (const proof of proofs) {
      const isProven = await isRight(proof);
      if (isProven !== false) return isProven === null ? undefined : null;
    }
    return 'this box was set up before, and neither a PIN nor a secret of the file is its own';
  };

  /** Why a stick may not bring a whole configuration; null: it may; undefined: not judged yet. */
  const stickRefusal = async (config: Record<string, unknown>, source: 'stick' | 'stick with proof') => {
    const name = pathSettingIn(config);
    if (name !== undefined)
      return `a stick may not set ${name}, which names a program, folder or file of this box; set it in the config.json of the box`;
    return source === 'stick with proof' ? missingProof(config) : null;
  };

  /** @param source a stick needs a proof where the box has something to prove it by */
  const importFrom = async (path: string, source: 'trusted' | 'stick' | 'stick with proof'): Promise<boolean> => {
    const isTrusted = source === 'trusted';
    if (isFinished) return false;
    const found = await readSmallFile(path);
    if (found === null) return false;
    if (typeof found === 'string') {
      refuse(path, path, found);
      return false;
    }
    const bytes = found;
    const hash = createHash('sha256').update(bytes).digest('hex');
    const imported = await readImported();
    // A file that no stick may bring is taken from where an administrator writes.
    const key = isTrusted ? hash : `stick ${hash}`;
    if (refused.has(key) || wasImported(imported, hash, path)) return false;
    const missing = source === 'trusted' ? null : await stickRefusal(parse(bytes), source);
    if (missing === undefined) return false;
    if (missing !== null) {
      refuse(key, path, missing);
      return false;
    }
    // An image comes with an empty one, which must not keep a stick from being read, nor undo the settings of data that it adopts.
    const isNothing = isTrusted && /^\s*\{\s*\}\s*$/.test(bytes.toString('latin1'));
    let reason = null as string | null;
    const isChange = await changeConfig(target, async () => {
      const current = await readFile(target).catch(() => null);
      const next = withOwnOf(bytes, current, isTrusted);
      if (isNothing || current?.equals(next) === true) return null;
      reason = await refusalOf(next, isTrusted || bytes.includes('"'));
      return reason === null ? next : null;
    });
    if (reason !== null) {
      refuse(key, path, reason);
      return false;
    }
    if (isChange) log.info({ path }, 'a configuration was imported');
    await remember(imported, hash, path, isTrusted);
    return isChange;
  };

  const importNetwork = async (path: string): Promise<boolean> => {
    const found = isFinished ? null : await readSmallFile(path);
    if (found === null || typeof found === 'string') return false;
    const key = createHash('sha256').update(found).digest('hex');
    const imported = await readImported();
    if (refused.has(key) || wasImported(imported, key, path)) return false;
    const asked = networkIn(parse(found));
    if (typeof asked === 'string') {
      refuse(key, path, asked);
      return false;
    }
    const isProven = await isRight(asked.proof);
    if (isProven === null) return false;
    const wrong =
      asked.proof.what === 'secret' ? 'its secret is not that of this site' : 'its PIN is not that of this box';
    const { network } = asked;
    const reason = isProven ? await refusalOf(Buffer.from(JSON.stringify({ kiosk: { network } })), true) : wrong;
    if (reason !== null) {
      refuse(key, path, reason);
      return false;
    }
    await setNetwork(network);
    log.info({ path }, 'the network of a configuration was imported');
    await remember(imported, key, path, false);
    return false;
  };

  /** How a stick is read. The configuration may be still to come although a phone has named the Wi-Fi. */
  const stickReader = async (): Promise<(path: string) => Promise<boolean>> => {
    const bytes = await readFile(target).catch(() => null);
    const { kiosk, ...rest } = parse(bytes ?? new Uint8Array());
    const hasNetworkAlone = Object.keys(rest).length === 0 && Object.keys(objectIn(kiosk)).join() === 'network';
    if (bytes !== null && (wasBound() || !hasNetworkAlone)) return importNetwork;
    const needsProof = wasBound() && isProtected();
    if (needsProof === null) return async () => false;
    return (path) => importFrom(path, needsProof ? 'stick with proof' : 'stick');
  };

  const search = async (): Promise<boolean> => {
    for (const folder of sources.trusted) if (await importFrom(join(folder, 'config.json'), 'trusted')) return true;
    const readStick = await stickReader();
    for (const folder of sources.removable) {
      const outer = sources.levels === 0 ? [] : await foldersIn(folder);
      const inner: string[] = [];
      // One after the other: each call to a hanging USB stick blocks one of the few threads for file access.
      for (const each of outer) inner.push(...(await foldersIn(each)));
      for (const each of [folder, ...outer, ...inner]) {
        const path = join(each, 'config.json');
        if (await readStick(path)) return true;
      }
    }
    return false;
  };

  return {
    /**
     * Searches for a configuration and imports it. While a search is in progress, which a hanging USB stick may never end,
     * it returns that one.
     * @returns whether the configuration of the box has changed
     */
    poll: singleFlight<void, boolean>(search),
  };
};
