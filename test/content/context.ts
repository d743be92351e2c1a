import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import type { ServiceContext } from '../../service/module.ts';
import { testTempo } from '../support/tempo.ts';

/** What the content of a box receives, with nothing else of the box. */
export const contentContext = (
  dataDir: string,
  { nodeId = 'a', log = pino({ level: 'silent' }) }: { nodeId?: string; log?: Logger } = {},
): ServiceContext =>
  ({
    options: { variant: 'extended', timeZone: 'UTC' },
    dirs: { data: dataDir, media: join(dataDir, 'media'), resources: join(import.meta.dirname, '../../resources') },
    ids: { nodeId },
    log,
    now: Date.now,
    tempo: testTempo,
  }) as unknown as ServiceContext;
