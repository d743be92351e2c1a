/**
 * `npm run bench [name ...] [-- --rounds 7] [--json FILE] [--figures]`: figures of this machine, each contender in a
 * process of its own. Only ratios within a round mean anything. `--figures` writes resources/figures.md.
 */
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { benchCrowd } from './crowd.ts';
import { benchEdit } from './edit.ts';
import { benchEditsSoak } from './edits-soak.ts';
import { benchFanOut } from './fanout.ts';
import { benchFleet } from './fleet.ts';
import { runApart } from './harness/apart.ts';
import { type Bench, createFigures } from './harness/figures.ts';
import { asText } from './harness/print.ts';
import { createReport } from './harness/report.ts';
import { benchHttp } from './http.ts';
import { benchHttps } from './https.ts';
import { benchKiosk } from './kiosk.ts';
import { benchMedia } from './media.ts';
import { benchMemory } from './memory.ts';
import { benchPage, benchRound } from './page.ts';
import { benchPeers } from './peers.ts';
import { benchPlaying, benchSwaps } from './playing.ts';
import { benchRenditions } from './renditions.ts';
import { benchRest } from './rest.ts';
import { benchSite } from './site.ts';
import { benchSnapshot } from './snapshot.ts';
import { benchStart } from './start.ts';
import { benchStreams } from './streams.ts';
import { benchSync } from './sync.ts';
import { benchUploads } from './uploads.ts';

const benches: Record<string, Bench> = {
  http: benchHttp,
  https: benchHttps,
  fanout: benchFanOut,
  snapshot: benchSnapshot,
  edit: benchEdit,
  start: benchStart,
  rest: benchRest,
  streams: benchStreams,
  page: benchPage,
  round: benchRound,
  sync: benchSync,
  swaps: benchSwaps,
  memory: benchMemory,
  uploads: benchUploads,
  media: benchMedia,
  renditions: benchRenditions,
  peers: benchPeers,
  fleet: benchFleet,
  site: benchSite,
  crowd: benchCrowd,
  'edits-soak': benchEditsSoak,
  kiosk: benchKiosk,
  playing: benchPlaying,
};

/** Take minutes, or over an hour, so they have to be asked for. */
const long = [
  'round',
  'sync',
  'swaps',
  'memory',
  'uploads',
  'media',
  'renditions',
  'peers',
  'fleet',
  'site',
  'crowd',
  'edits-soak',
  'kiosk',
  'playing',
];

/** No bench that need not be asked for takes longer: a server that hangs must not end the others. */
const MOST_MS = 360_000;

const tooLate = async (): Promise<never> => {
  await delay(MOST_MS);
  throw new Error(`it took over ${MOST_MS / 60_000} minutes`);
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '7' },
    json: { type: 'string' },
    figures: { type: 'boolean', default: false },
  },
});
const wanted = positionals.length > 0 ? positionals : Object.keys(benches).filter((name) => !long.includes(name));
const unknown = wanted.filter((name) => !(name in benches));
if (unknown.length > 0) {
  console.error(`there is no bench ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}`);
  process.exit(1);
}

const measure = async (name: string): Promise<void> => {
  const figures = createFigures(new Date());
  const report = createReport(name, Number(values.rounds), {
    onTable: (table) => {
      figures.add(table);
      console.log(asText(table));
    },
    onNote: (bench, text) => {
      figures.note(bench, text);
      console.log(`  ${text}`);
    },
  });
  try {
    const measured = benches[name]?.(report);
    await (long.includes(name) ? measured : Promise.race([measured, tooLate()]));
  } catch (error) {
    // What was measured before is still worth its time; what is missing is said.
    report.note(`${name} could not be measured to its end: ${(error as Error).message}`);
    console.error(error);
    process.exitCode = 1;
  }
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(figures.toJSON(), null, 2)}\n`);
  if (values.figures) figures.write();
};

const [only = ''] = wanted;
if (wanted.length === 1) await measure(only);
else {
  const runs = await runApart(wanted, ['--rounds', values.rounds, ...(values.figures ? ['--figures'] : [])]);
  const [first] = runs;
  const all = { ...first, tables: runs.flatMap(({ tables }) => tables), notes: runs.flatMap(({ notes }) => notes) };
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(all, null, 2)}\n`);
}
process.exit();
