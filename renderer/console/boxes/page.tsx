/** The boxes of the site: health, logs, restart, and the measurements of the answering box. */
import { useSignal } from '@preact/signals';
import type { Site } from '../model/wire.ts';
import { reasonOf } from '../texts/reason.ts';
import { useConsole } from '../ui/context.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Lazy } from '../ui/lazy.tsx';
import { Log } from './log.tsx';

type Box = Site['boxes'][number];

const thisBox = async () => (await import('./this-box.tsx')).ThisBox;

const tones = { here: 'good', alive: 'good', away: 'bad' } as const;

const Card = ({ box, onLog }: { box: Box; onLog(): void }) => {
  const { client, texts, format, clock, announcer } = useConsole();
  const words = texts.boxes;
  const isAsking = useSignal(false);
  const { nodeId, name, url, version, status, lastSeenAt, warnings } = box;
  const restart = async (): Promise<void> => {
    isAsking.value = false;
    try {
      await client.json(`/console/api/boxes/${encodeURIComponent(nodeId ?? '')}/restart`, { method: 'POST' });
      announcer.say(words.restarting({ name }));
    } catch (error) {
      announcer.complain(reasonOf(error, texts));
    }
  };
  return (
    <li class="panel box">
      <div class="panel-head">
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
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      {status !== 'away' && warnings.length === 0 && <p class="soft">{words.fine}</p>}
      {nodeId !== null && (
        <div class="buttons">
          <button type="button" class="button small" onClick={onLog}>
            {words.log}
          </button>
          <button type="button" class="button small" onClick={() => (isAsking.value = true)}>
            {words.restart} …
          </button>
        </div>
      )}
      {isAsking.value && (
        <Dialog title={words.restartTitle({ name })} onClose={() => (isAsking.value = false)}>
          <div class="stack">
            <p>{words.restartTask}</p>
            <div class="buttons end">
              <button type="button" class="button" onClick={() => (isAsking.value = false)}>
                {texts.cancel}
              </button>
              <button type="button" class="button primary" onClick={() => void restart()}>
                {words.restart}
              </button>
            </div>
          </div>
        </Dialog>
      )}
    </li>
  );
};

export const BoxesPage = () => {
  const { site, texts } = useConsole();
  const words = texts.boxes;
  const open = useSignal<string | null>(null);
  const boxes = site.overview.value?.boxes ?? [];
  const logged = boxes.find(({ nodeId }) => nodeId === open.value);
  return (
    <>
      <div class="page-head">
        <h1>{words.title}</h1>
        <p class="soft">{words.count({ count: boxes.length })}</p>
      </div>
      <ul class="boxes">
        {boxes.map((box) => (
          <Card key={box.nodeId ?? box.url} box={box} onLog={() => (open.value = box.nodeId)} />
        ))}
      </ul>
      <Lazy load={thisBox} with={{}} />
      {logged?.nodeId != null && (
        <Dialog title={words.logOf({ name: logged.name })} onClose={() => (open.value = null)} isWide>
          <Log nodeId={logged.nodeId} />
        </Dialog>
      )}
    </>
  );
};
