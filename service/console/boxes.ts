/** The log of a box, and its restart. */
import { type BoxLog, type BoxLogQuery, boxLogQuery, logLevels } from '../contract/console/boxes.ts';
import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import type { Routes } from '../http/routes.ts';

interface Dependencies {
  /** The newest lines of this box's log, oldest first: a JSON object each. */
  logLines(): readonly string[];
}

/** The newest lines of a level and above, oldest first. Lines that are no log records are left out. */
export const selectLines = (lines: readonly string[], { level, limit }: BoxLogQuery): BoxLog['lines'] => {
  const chosen: BoxLog['lines'] = [];
  for (let index = lines.length - 1; index >= 0 && chosen.length < limit; index--) {
    const record = JSON.parse(lines[index] ?? '') as BoxLog['lines'][number];
    if (record.level >= logLevels[level]) chosen.push(record);
  }
  return chosen.reverse();
};

export const boxRoutes = ({ logLines }: Dependencies, { nodeId }: { nodeId: string }): Routes => ({
  'GET /console/api/boxes/:nodeId/log': (ctx) => {
    const query = readFields(boxLogQuery, ctx.query);
    if (ctx.params.nodeId !== nodeId) throw new CodedError('box_not_found');
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { lines: selectLines(logLines(), query) } satisfies BoxLog;
  },
  'POST /console/api/boxes/:nodeId/restart': (ctx) => {
    throw new CodedError(ctx.params.nodeId === nodeId ? 'not_supported' : 'box_not_found');
  },
});
