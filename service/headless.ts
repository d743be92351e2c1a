/** The service on plain Node: what `npm run headless` runs. */
import { existsSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publicBase } from './domain/lan-address.ts';
import {
  createLog,
  createLogRing,
  EXIT_CONFIG,
  EXIT_RESTART,
  importConfig,
  isSupervised,
  mostLogLines,
  OptionsError,
  readOptions,
  startService,
} from './public.ts';

/** Resolves a path relative to the bundle in `dist/service`. */
const fromHere = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const STOP_MS = 5_000;
/** Maximum number of screens listed at the start; a site may have hundreds. */
const MAX_LISTED = 8;

/** Of the machine, and the folder of the data, where a package starts this. */
const [, , machineConfig, dataDir] = process.argv;

const run = async (): Promise<void> => {
  // An import that fails does not keep the screens from playing, unless the box has no settings, and no secret, of its own.
  const failure = machineConfig && dataDir ? await importConfig(machineConfig, dataDir) : null;
  if (failure !== null && !existsSync(join(dataDir ?? '', 'config.json'))) throw new OptionsError(failure);
  if (failure !== null) console.error(failure);
  const found = readOptions();
  const options = failure === null ? found : { ...found, warnings: [...found.warnings, failure] };
  const ring = createLogRing(mostLogLines);
  const log = createLog(options.logLevel, join(options.dataDir, 'logs'), ring.add);
  let stopping = false;
  const stop = async (exitCode: number): Promise<void> => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), STOP_MS).unref();
    await (await starting).close();
    process.exit(exitCode);
  };
  const starting = startService(options, {
    log,
    logLines: ring.lines,
    rendererDir: fromHere('../renderer'),
    resourcesDir: fromHere('../../resources'),
    ...((await isSupervised()) && { restart: () => void stop(EXIT_RESTART) }),
  });
  // Before it has started: it answers already before that.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(0).catch(() => {}));
  const service = await starting;
  // The reader of these lines may be gone, as in `npm run headless | head -1`; the screens play on.
  process.stdout.on('error', () => {});

  const { host, port } = new URL(service.url);
  const base = publicBase(options.publicUrl, { host, port: Number(port) }, networkInterfaces(), options.host);
  console.log(`Signage player listening on ${service.url}`);
  for (const { name, slug } of service.screens().slice(0, MAX_LISTED)) {
    console.log(`  ${name}: ${service.url}/screen/${slug}`);
  }
  if (options.console) console.log(`  edit what they show: ${service.url}/console`);
  // The landing page, which the baseline variant does not have.
  if (base !== null && options.variant === 'extended') console.log(`  another screen in the network: ${base}/`);
  console.log(`  content file: ${join(options.dataDir, 'content.json')}`);
};

run().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(error instanceof OptionsError ? EXIT_CONFIG : 1);
});
