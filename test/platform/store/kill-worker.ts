import { writeSync } from 'node:fs';
import { openStore } from '../../support/store.ts';

/**
 * Binds devices as fast as it can, several at once, and prints `DEVICE COUNT` for each binding that was acknowledged,
 * until it is killed. Counts go up from the one given.
 */
const [dataDir = '', from = '0'] = process.argv.slice(2);
const store = await openStore({ dataDir });

async function bindForever(worker: number): Promise<void> {
  for (let count = Number(from); ; count += 1) {
    const deviceId = `device-${worker}-${count % 10}`;
    await store.devices.bind(deviceId, String(count), 'lobby');
    writeSync(1, `${deviceId} ${count}\n`);
  }
}

await Promise.all([0, 1, 2, 3].map(bindForever));
