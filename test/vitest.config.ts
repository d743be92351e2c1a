import { readFileSync, statfsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { changedFiles, testsOf } from './support/changed.ts';
import { SlowInTurn } from './support/order.ts';
import { createTimes } from './support/times.ts';

/** Tests that repeat themselves: `npm run soak` runs these alone, and for hours. */
const repeated = [
  'test/auth/replay.test.ts',
  'test/cli/{documents,hostile,relay}.test.ts',
  'test/clock/majority-of-boxes.test.ts',
  'test/console/{accessibility,boxes,content,editor,forget,history,media,museum,scale,site,takeovers,versions}.test.ts',
  'test/content/properties.test.ts',
  'test/contract/{client,client-package}.test.ts',
  'test/devices/{claims,landing}.test.ts',
  'test/domain/wall-time.test.ts',
  'test/feeds/calendar.test.ts',
  'test/fleet/{attacks,cut,losses,sites}.test.ts',
  'test/fuzz/fuzz.test.ts',
  'test/image/{boot-state,network}.test.ts',
  'test/kiosk/{external-page,hours,photographs,recovery,start}.test.ts',
  'test/media/{corpus,corrupt-files,documents,renditions-trouble}.test.ts',
  'test/peers/{burst,churn,deletions,kill,load,middle-network,replication,storm}.test.ts',
  'test/platform/options/process.test.ts',
  'test/platform/store/{crash,kill,lock}.test.ts',
  'test/people/{forged-signatures,many}.test.ts',
  'test/player/{boundaries,daylight,endurance,framing,outage,swaps,ticker}.test.ts',
  'test/player/slides/{designs,long-pdf,richness,text}.test.ts',
  'test/records/plays/{delivery,export,kill}.test.ts',
  'test/streams/{healing,orphans}.test.ts',
];

/** What takes long and joins what other tests check one by one: `npm run test:whole` runs it too; CI does at night. */
const walks = [
  'test/authority/site.test.ts',
  'test/cli/{completion,documents,relay,tour}.test.ts',
  'test/console/{accessibility,cafe,designs,editor,insecure,keyboard-and-phone,museum,people,scale,second-day}.test.ts',
  'test/contract/{client,client-package}.test.ts',
  'test/devices/{form,landing}.test.ts',
  'test/fleet/{cut,sites}.test.ts',
  'test/fuzz/fuzz.test.ts',
  'test/kiosk/{displays-photographed,photographs,unruly-sites}.test.ts',
  'test/media/{corpus,copies/cold-start}.test.ts',
  'test/package/{feed,release,start}.test.ts',
  'test/pages/docs.test.ts',
  'test/peers/{churn,middle-network}.test.ts',
  'test/platform/compiled-code.test.ts',
  'test/player/{boundaries,motion}.test.ts',
  'test/records/alerts/killed.test.ts',
  'test/records/plays/{export,kill}.test.ts',
  'test/streams/healing.test.ts',
  'test/triggers/console-and-cli.test.ts',
];

/** Data folders are kept in memory where there is room: tests wait for their code, not for a disk. */
const memory = '/dev/shm';
const isRoomy = (): boolean => {
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize > 4 * 2 ** 30 && !/ \/dev\/shm \S+ \S*noexec/.test(readFileSync('/proc/mounts', 'utf8'));
  } catch {
    return false;
  }
};
if (isRoomy()) process.env.TMPDIR = memory;

const root = fileURLToPath(new URL('..', import.meta.url));
/** The module graph would run all tests that start a service for a change of one module. */
const isChanged = process.argv.includes('--changed');
/** Files named on the command line, as in `npm test -- test/cli`, run even if they are walks. */
const areNamed = process.argv.some((argument) => argument.startsWith('test/') && !argument.endsWith('.config.ts'));
const runsWalks = (mode: string): boolean => mode === 'whole' || mode === 'soak' || areNamed;

export default defineConfig(({ mode }) => ({
  plugins: [
    {
      name: 'changed-folders',
      configureVitest({ vitest }) {
        vitest.config.changed = false;
      },
    },
  ],
  resolve: { alias: { 'virtual:texts/player': fileURLToPath(new URL('support/player-texts.ts', import.meta.url)) } },
  test: {
    root,
    include: mode === 'soak' ? repeated : isChanged ? testsOf(changedFiles(root)) : ['test/**/*.test.ts'],
    exclude: runsWalks(mode) || isChanged ? [] : walks,
    // Single cases of that kind, in files that run always.
    env: {
      ...(runsWalks(mode) && { SIGNAGE_TEST_WALKS: 'on' }),
      ...(mode === 'times' && { SIGNAGE_TEST_COSTS: 'on' }),
    },
    // A busy CI takes three times as long as a machine that does nothing else.
    testTimeout: mode === 'soak' ? 3_600_000 : process.env.CI === 'true' ? 90_000 : 30_000,
    hookTimeout: 60_000,
    // CI runs browsers, compositors and ffmpeg on few processors: a test that lost a race is repeated, and its report says so.
    retry: process.env.CI === 'true' && mode !== 'soak' ? 2 : 0,
    // The code keeps no state in modules: the files that a worker runs share them, which saves a third of the time.
    // A module that a test mocked would be the others' too, so none is.
    isolate: false,
    // Young garbage is collected half as often, which takes a third less time.
    execArgv: ['--max-semi-space-size=64'],
    setupFiles: ['test/support/setup.ts'],
    // What a test still asks of a page that closes with it comes to nothing, and is no fault of the run.
    onUnhandledError: ({ message }) => !/(page, context or browser has been closed|has been disposed)/.test(message),
    sequence: { sequencer: SlowInTurn },
    reporters: mode === 'times' ? ['dot', createTimes()] : ['default'],
    // Transformed modules are kept beside the dependencies, so that the second run transforms only what has changed.
    experimental: { fsModuleCache: true },
    // Most tests wait for a browser, a process or a timer: more workers than processors.
    // CI takes fewer: with six, two processors leave pages less than the time that they need, and what is repeated costs more.
    maxWorkers: mode === 'soak' ? 1 : process.env.CI === 'true' ? 4 : 6,
  },
}));
