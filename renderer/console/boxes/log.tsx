/** The log of a box: followed, by level, searched. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { matches } from '../model/search.ts';
import { reasonOf } from '../texts/reason.ts';
import { useConsole } from '../ui/context.tsx';
import { SearchField } from '../ui/search-field.tsx';

interface Line {
  level: number;
  time: string;
  msg?: string;
  [field: string]: unknown;
}

const levels = ['debug', 'info', 'warn', 'error'] as const;
const LIMIT = 200;
const FOLLOW_MS = 2_000;

/** Fields that are shown elsewhere, or are the same in every line. */
const leftOut = new Set(['level', 'time', 'msg', 'pid', 'hostname']);

const rest = (line: Line): string =>
  Object.entries(line)
    .filter(([name]) => !leftOut.has(name))
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join('  ');

export const Log = ({ nodeId }: { nodeId: string }) => {
  const { client, texts, format } = useConsole();
  const words = texts.boxes;
  const level = useSignal<(typeof levels)[number]>('info');
  const text = useSignal('');
  const isFollowed = useSignal(true);
  const lines = useSignal<readonly Line[] | null>(null);
  const error = useSignal<unknown>(null);
  useEffect(() => {
    let isOver = false;
    const look = async (): Promise<void> => {
      try {
        const path = `/console/api/boxes/${encodeURIComponent(nodeId)}/log?level=${level.value}&limit=${LIMIT}`;
        const answer = await client.json<{ lines: Line[] }>(path);
        if (isOver) return;
        lines.value = answer.lines;
        error.value = null;
      } catch (reason) {
        if (!isOver) error.value = reason;
      }
    };
    void look();
    const timer = setInterval(() => {
      if (isFollowed.value && !document.hidden) void look();
    }, FOLLOW_MS);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [nodeId, level.value]);
  const found = (lines.value ?? []).filter((line) => matches(text.value, JSON.stringify(line)));
  return (
    <div class="stack">
      <div class="filters-row">
        <SearchField label={words.search} text={text} />
        <select
          aria-label={words.level}
          value={level.value}
          onChange={(event) => {
            level.value = event.currentTarget.value as (typeof levels)[number];
          }}
        >
          {levels.map((each) => (
            <option key={each} value={each}>
              {words.levels[each]}
            </option>
          ))}
        </select>
        <label class="check">
          <input
            type="checkbox"
            checked={isFollowed.value}
            onChange={(event) => {
              isFollowed.value = event.currentTarget.checked;
            }}
          />
          <span>{words.follow}</span>
        </label>
      </div>
      {error.value !== null && <p class="notice bad">{reasonOf(error.value, texts)}</p>}
      <ol class="log">
        {found.toReversed().map((line, index) => (
          <li key={`${line.time} ${index}`} class={line.level >= 50 ? 'bad' : line.level >= 40 ? 'warning' : ''}>
            <time dateTime={line.time}>{format.exactTime(Date.parse(line.time))}</time>
            <span>
              {line.msg} <span class="soft">{rest(line)}</span>
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
};
