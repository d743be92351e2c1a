/** The boxes of the site: health, logs, restart, and the measurements of the answering box. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { reasonOf } from '../api/errors.ts';
import { matches } from '../model/filter.ts';
import type { Site } from '../model/wire.ts';
import { useConsole } from '../ui/context.tsx';
import { Button, Confirm, Dialog, SearchField } from '../ui/controls.tsx';
import { Check, Select } from '../ui/inputs.tsx';
import { Lazy } from '../ui/lazy.tsx';

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

/** The log of a box: followed, by level, searched. */
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
      <div class="row filters-row">
        <SearchField label={words.search} text={text} />
        <Select
          aria-label={words.level}
          value={level.value}
          options={levels.map((each) => [each, words.levels[each]])}
          onValue={(value) => (level.value = value)}
        />
        <Check checked={isFollowed.value} onChange={(checked) => (isFollowed.value = checked)}>
          {words.follow}
        </Check>
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

type Box = Site['boxes'][number];

const machine = async () => (await import('./machine.tsx')).Machine;
const secrets = async () => (await import('./secrets.tsx')).Secrets;
const thisBox = async () => (await import('./this-box.tsx')).ThisBox;

const tones = { here: 'good', alive: 'good', away: 'bad' } as const;

const Card = ({ box, onLog, onOperate }: { box: Box; onLog(): void; onOperate(): void }) => {
  const { access, client, texts, format, clock, announcer } = useConsole();
  const words = texts.boxes;
  const isAsking = useSignal(false);
  const { nodeId, name, url, version, status, lastSeenAt, warnings } = box;
  const restart = async (): Promise<void> => {
    isAsking.value = false;
    try {
      await client.json(`/console/api/boxes/${encodeURIComponent(nodeId ?? '')}/restart`, { method: 'POST' });
      announcer.say(words.restarting({ name }));
    } catch (error) {
      announcer.report(error);
    }
  };
  return (
    <li class="panel box">
      <div class="row panel-head">
        <h2>{name}</h2>
        <p class={`state ${tones[status]}`}>
          {words.status[status]}
          {status === 'away' &&
            lastSeenAt !== null &&
            ` ${words.since({ time: format.when(lastSeenAt, clock.now()) })}`}
        </p>
      </div>
      <div>
        <p class="device-facts">
          {[url, version === null ? null : words.version({ version })].filter(Boolean).join(' · ')}
        </p>
        {nodeId !== null && <p class="box-id">{nodeId}</p>}
      </div>
      {warnings.length > 0 && (
        <ul class="notice warning issues">
          {warnings.map((warning) => (
            <li key={warning}>{texts.ofBox(warning)}</li>
          ))}
        </ul>
      )}
      {status !== 'away' && warnings.length === 0 && <p class="soft">{words.fine}</p>}
      {nodeId !== null && (
        <div class="buttons">
          {access.may('GET /console/api/boxes/:nodeId/log') && (
            <Button class="small" onClick={onLog}>
              {words.log}
            </Button>
          )}
          {access.may('POST /console/api/boxes/:nodeId/restart') && (
            <Button class="small" onClick={() => (isAsking.value = true)}>
              {words.restart} …
            </Button>
          )}
          {access.may('POST /console/api/boxes/:nodeId/actions') && (
            <Button class="small" onClick={onOperate}>
              {words.machine.open} …
            </Button>
          )}
        </div>
      )}
      {isAsking.value && (
        <Confirm
          title={words.restartTitle({ name })}
          submit={words.restart}
          onClose={() => (isAsking.value = false)}
          onSubmit={() => void restart()}
        >
          <p>{words.restartTask}</p>
        </Confirm>
      )}
    </li>
  );
};

export const BoxesPage = () => {
  const { site, texts } = useConsole();
  const words = texts.boxes;
  const open = useSignal<string | null>(null);
  const boxes = site.overview.value?.boxes ?? [];
  const operated = useSignal<string | null>(null);
  const logged = boxes.find(({ nodeId }) => nodeId === open.value);
  const inHand = boxes.find(({ nodeId }) => nodeId !== null && nodeId === operated.value);
  return (
    <>
      <div class="page-head">
        <h1>{words.title}</h1>
        <p class="soft">{words.count({ count: boxes.length })}</p>
      </div>
      <ul class="boxes">
        {boxes.map((box) => (
          <Card
            key={box.nodeId ?? box.url}
            box={box}
            onLog={() => (open.value = box.nodeId)}
            onOperate={() => (operated.value = box.nodeId)}
          />
        ))}
      </ul>
      <Lazy load={thisBox} with={{}} />
      <Lazy load={secrets} with={{}} />
      {logged?.nodeId != null && (
        <Dialog title={words.logOf({ name: logged.name })} onClose={() => (open.value = null)} isWide>
          <Log nodeId={logged.nodeId} />
        </Dialog>
      )}
      {inHand !== undefined && (
        <Dialog title={words.machine.title({ name: inHand.name })} onClose={() => (operated.value = null)} isWide>
          <Lazy load={machine} with={{ box: inHand }} />
        </Dialog>
      )}
    </>
  );
};
