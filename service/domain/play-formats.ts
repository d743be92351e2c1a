/** Plays as JSON and as CSV (RFC 4180), in pieces. */
import { stringify } from 'csv-stringify/sync';
import { type Play, play } from '../contract/plays.ts';
import { safeCell } from './spreadsheet.ts';

export const formats = {
  json: {
    type: 'application/json; charset=utf-8',
    /** One array, a line for each play. */
    async *write(plays: AsyncIterable<Play[]>): AsyncGenerator<string> {
      let separator = '[\n';
      for await (const batch of plays) {
        if (batch.length === 0) continue;
        yield separator + batch.map((each) => JSON.stringify(each)).join(',\n');
        separator = ',\n';
      }
      yield separator === '[\n' ? '[]\n' : '\n]\n';
    },
  },
  csv: {
    type: 'text/csv; charset=utf-8; header=present',
    async *write(plays: AsyncIterable<Play[]>): AsyncGenerator<string> {
      yield csvRows([], true);
      for await (const batch of plays) yield csvRows(batch, false);
    },
  },
} as const;

const csvRows = (batch: readonly Play[], header: boolean): string =>
  stringify([...batch], {
    columns: Object.keys(play.shape),
    header,
    record_delimiter: '\r\n',
    // RFC 4180, 2: also if a cell has one of the two alone.
    quoted_match: /[\r\n]/,
    cast: { string: safeCell },
  });
