/**
 * Starts the service on plain Node (`dist/service/headless.js`) from one bundle, with the code that V8 compiled for an
 * earlier start: compiling takes a third of a start. The code is next to the bundle, so that an account that can replace it
 * could replace the bundle as well. Its name contains the hash of the bundle and V8's version and flags; V8 checks the
 * latter again.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';

/** A service that runs until the power is cut never exits on its own. */
const KEEP_MS = 60_000;

const path = fileURLToPath(new URL('headless.cjs', import.meta.url));
const bytes = readFileSync(path);
const hash = createHash('sha1').update(bytes).digest('hex').slice(0, 16);
const codeName = `headless-${hash}-${cachedDataVersionTag().toString(16)}.code`;

const readCode = (): Buffer | undefined => {
  try {
    return readFileSync(join(dirname(path), codeName));
  } catch {
    // The first start with this bundle or this Node.
    return undefined;
  }
};

const cachedData = readCode();
// The bundle is ASCII: as Latin-1 it is not decoded.
const script = new Script(Module.wrap(bytes.toString('latin1')), { filename: path, ...(cachedData && { cachedData }) });

/** Keeps the code of all functions that have run. Never throws: the next start is slower, and nothing else. */
const keep = (): void => {
  const folder = dirname(path);
  const temporary = join(folder, `${codeName}.${process.pid}.new`);
  try {
    // V8 need not notice what a power cut has left of it.
    writeFileSync(temporary, script.createCachedData(), { flush: true });
    renameSync(temporary, join(folder, codeName));
    for (const name of readdirSync(folder)) {
      // Of other versions, and of a start whose power was cut.
      if (/^headless-.*\.code(\.\d+\.new)?$/.test(name) && name !== codeName)
        rmSync(join(folder, name), { force: true });
    }
  } catch {
    // The folder is read-only or full.
    rmSync(temporary, { force: true });
  }
};

if (cachedData === undefined || script.cachedDataRejected === true) {
  const keepAtExit = (code: number): void => {
    // A start that failed, as by a wrong setting, has compiled too few functions to be worth keeping.
    if (code === 0) keep();
  };
  process.once('exit', keepAtExit);
  setTimeout(() => {
    process.off('exit', keepAtExit);
    keep();
  }, KEEP_MS).unref();
}

const module = { exports: {} };
script.runInThisContext()(module.exports, createRequire(path), module, path, dirname(path));
