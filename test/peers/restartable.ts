import { type Headless, startHeadless } from '../platform/options/process.ts';

/** A box as a process of its own that keeps its folder and its port when it is started again. */
export interface Restartable {
  url: string;
  readonly child: Headless['child'];
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** @param first the box whose address this one is given; absent: it is the first */
export const startRestartable = async (dataDir: string, first?: { url: string }): Promise<Restartable> => {
  let running: Headless;
  let port = '0';
  const box: Restartable = {
    url: '',
    get child() {
      return running.child;
    },
    kill: async () => {
      running.child.kill('SIGKILL');
      await running.ended;
    },
    start: async () => {
      running = startHeadless({
        SIGNAGE_DATA_DIR: dataDir,
        SIGNAGE_LOG_LEVEL: 'silent',
        SIGNAGE_PORT: port,
        ...(first === undefined ? {} : { SIGNAGE_PEERS: first.url }),
      });
      box.url = await running.ready();
      port = new URL(box.url).port;
    },
  };
  await box.start();
  return box;
};
