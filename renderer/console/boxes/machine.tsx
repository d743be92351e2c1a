/** The machine of a box: its displays, sound and power, and on the answering box backup and restore. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ActionAnswer, BoxOrder } from '../../../service/contract/console/actions.ts';
import { isCode, reasonOf } from '../api/errors.ts';
import type { Site } from '../model/wire.ts';
import { useConsole } from '../ui/context.tsx';
import { Button, Confirm } from '../ui/controls.tsx';
import { Icon } from '../ui/icon.tsx';
import { Select, TextField } from '../ui/inputs.tsx';
import { type RestoreStep, restoreBackup, saveBackup } from './backup.ts';

type Box = Site['boxes'][number];

/** What became of something, in words. */
interface Told {
  tone: 'good' | 'quiet' | 'warning' | 'bad';
  text: string;
  more?: readonly string[];
}

/** How long a box may take to answer for its hardware, ms. */
const HARDWARE_MS = 15_000;

const tones = { done: 'good', unknown: 'warning', not_supported: 'quiet' } as const;

/** A part of the page, with what was last told of it. */
const Part = (props: { title: string; told: Told | null; children: ComponentChildren }) => (
  <section class="machine-part">
    <h3>{props.title}</h3>
    {props.children}
    <div role="status">
      {props.told !== null && <p class={`state ${props.told.tone}`}>{props.told.text}</p>}
      {props.told?.more?.map((sentence) => (
        <p key={sentence} class="hint">
          {sentence}
        </p>
      ))}
    </div>
  </section>
);

/** Gives orders to a box, one at a time, and holds what became of the last one. */
const useOrders = ({ nodeId }: Box) => {
  const { client, texts } = useConsole();
  const words = texts.boxes.machine;
  const told = useSignal<Told | null>(null);
  const isBusy = useSignal(false);
  const order = async (body: BoxOrder): Promise<ActionAnswer | null> => {
    if (isBusy.value) return null;
    isBusy.value = true;
    told.value = { tone: 'quiet', text: words.working };
    try {
      const path = `/console/api/boxes/${encodeURIComponent(nodeId ?? '')}/actions`;
      const answer = await client.json<ActionAnswer>(path, { method: 'POST', body, timeout: HARDWARE_MS });
      const message = texts.ofBox(answer.message);
      told.value = { tone: tones[answer.result], text: words.result[answer.result]({ message }) };
      return answer;
    } catch (error) {
      told.value = { tone: 'bad', text: reasonOf(error, texts) };
      return null;
    } finally {
      isBusy.value = false;
    }
  };
  return { told, isBusy, order };
};

const Displays = ({ box }: { box: Box }) => {
  const { site, texts } = useConsole();
  const words = texts.boxes.machine;
  const { told, isBusy, order } = useOrders(box);
  const chosen = useSignal('');
  const devices = site
    .screens()
    .flatMap((screen) => screen.devices)
    .filter(({ nodeId }) => nodeId === box.nodeId);
  const button = (label: string, action: BoxOrder['action']) => (
    <Button
      class="small"
      aria-disabled={isBusy.value}
      onClick={() => void order({ action, ...(chosen.value === '' ? {} : { display: chosen.value }) })}
    >
      {label}
    </Button>
  );
  return (
    <Part title={words.displays} told={told.value}>
      {devices.length > 1 && (
        <Select
          aria-label={words.which}
          value={chosen.value}
          options={[
            ['', words.all],
            ...devices.map(({ deviceId, clientName }) => [deviceId, clientName ?? deviceId] as const),
          ]}
          onValue={(value) => (chosen.value = value)}
        />
      )}
      <div class="buttons">
        {button(words.identify, 'identify')}
        {button(words.on, 'display-on')}
        {button(words.off, 'display-off')}
      </div>
      <p class="hint">{words.displaysHint}</p>
    </Part>
  );
};

const Volume = ({ box }: { box: Box }) => {
  const { texts, format } = useConsole();
  const words = texts.boxes.machine;
  const { told, isBusy, order } = useOrders(box);
  /** Null: it is not known yet. */
  const level = useSignal<number | null>(null);
  const set = async (): Promise<void> => {
    const sent = level.value;
    if (isBusy.value || sent === null) return;
    const answer = await order({ action: 'volume', value: sent });
    // The slider may have moved on while the box was answering.
    if (level.value !== sent) return set();
    if (typeof answer?.state === 'number') level.value = answer.state;
  };
  return (
    <Part title={words.volume} told={told.value}>
      <div class="volume">
        <input
          type="range"
          aria-label={words.volume}
          min={0}
          max={100}
          value={level.value ?? 50}
          onInput={(event) => {
            level.value = Number(event.currentTarget.value);
          }}
          onChange={() => void set()}
        />
        <output>{level.value === null ? '–' : format.percent(level.value / 100)}</output>
      </div>
      <p class="hint">{words.volumeHint}</p>
    </Part>
  );
};

const endings = ['reboot', 'power-off', 'reset'] as const;
type Ending = (typeof endings)[number];

const Power = ({ box }: { box: Box }) => {
  const { session, texts } = useConsole();
  const words = texts.boxes.machine;
  const { told, isBusy, order } = useOrders(box);
  const asked = useSignal<Ending | null>(null);
  const typed = useSignal('');
  const fault = useSignal<string | null>(null);
  const { name } = box;
  const questions = {
    reboot: [words.reboot, words.rebootTitle({ name }), words.rebootTask],
    'power-off': [words.powerOff, words.powerOffTitle({ name }), words.powerOffTask],
    reset: [words.reset, words.resetTitle({ name }), words.resetTask],
  } as const satisfies Record<Ending, readonly string[]>;
  const submit = (action: Ending): void => {
    const isReset = action === 'reset';
    if (isReset && typed.value !== name) {
      fault.value = words.resetWrong;
      return;
    }
    asked.value = null;
    void order({ action, ...(isReset ? { value: name } : {}) });
  };
  return (
    <Part title={words.power} told={told.value}>
      <div class="buttons">
        {endings.map((action) => (
          <button
            key={action}
            type="button"
            class={action === 'reset' ? 'button small danger' : 'button small'}
            aria-disabled={isBusy.value}
            onClick={() => {
              typed.value = '';
              fault.value = null;
              asked.value = action;
            }}
          >
            {questions[action][0]} …
          </button>
        ))}
      </div>
      {!session.isSecured.value && <p class="hint">{texts.errors.localOnly}</p>}
      {asked.value !== null && (
        <Confirm
          title={questions[asked.value][1]}
          submit={questions[asked.value][0]}
          isDanger={asked.value !== 'reboot'}
          onClose={() => (asked.value = null)}
          onSubmit={() => asked.value !== null && submit(asked.value)}
        >
          <p>{questions[asked.value][2]}</p>
          {asked.value === 'reset' && (
            <TextField
              label={words.resetName}
              hint={words.resetHint({ name })}
              fault={fault.value}
              value={typed.value}
              autocomplete="off"
              autocapitalize="none"
              spellcheck={false}
              onInput={(event) => {
                typed.value = event.currentTarget.value;
                fault.value = null;
              }}
            />
          )}
        </Confirm>
      )}
    </Part>
  );
};

const Backup = ({ box: { name } }: { box: Box }) => {
  const { announcer, client, clock, format, session, site, texts } = useConsole();
  const words = texts.boxes.machine;
  const told = useSignal<Told | null>(null);
  const isBusy = useSignal(false);
  const file = useSignal<File | null>(null);
  const isOver = useRef(false);
  useEffect(
    () => () => {
      isOver.current = true;
    },
    [],
  );

  const run = async (work: (say: (text: string) => void) => Promise<Told>): Promise<void> => {
    isBusy.value = true;
    const say = (text: string): void => {
      told.value = { tone: 'quiet', text };
    };
    say(words.working);
    try {
      told.value = await work(say);
    } catch (error) {
      const text = isCode(error, 'too_many_requests') ? words.busy : reasonOf(error, texts);
      told.value = { tone: 'bad', text };
    }
    isBusy.value = false;
    // The page was left meanwhile.
    const { tone, text } = told.value;
    if (isOver.current) (tone === 'bad' ? announcer.complain : announcer.say)(text);
  };

  const save = (): Promise<void> =>
    run(async (say) => {
      const tar = `${name}-${new Date(clock.now()).toISOString().slice(0, 10)}.tar`;
      const size = await saveBackup(client, tar, (count) => say(words.saving({ size: format.bytes(count) })));
      return { tone: 'good', text: words.saved({ size: format.bytes(size) }) };
    });

  const stepOf = (at: RestoreStep): string =>
    at.step === 'checking' ? words.checking : words[at.step]({ share: format.percent(at.share) });

  const restore = (chosen: File): Promise<void> =>
    run(async (say) => {
      const done = await restoreBackup(client, chosen, (at) => say(stepOf(at)));
      void site.refresh();
      const { media, versions, bindings, settings } = done;
      const counts = { media, versions, bindings, settings: settings.length };
      const parts = format.list(
        (['media', 'versions', 'bindings', 'settings'] as const).map((key) => words[key]({ count: counts[key] })),
      );
      const more = done.left_out.map((sentence) => texts.ofBox(sentence));
      return {
        tone: 'good',
        text: words.restored({ parts }),
        more: done.restart_required ? [words.restart, ...more] : more,
      };
    });

  return (
    <Part title={words.backup} told={told.value}>
      <p class="hint">{words.backupAbout}</p>
      <div class="buttons">
        <Button class="small" aria-disabled={isBusy.value} onClick={() => !isBusy.value && void save()}>
          <Icon name="download" /> {words.save}
        </Button>
        <label class="button small">
          <Icon name="upload" /> {words.restore} …
          <input
            type="file"
            class="unseen"
            accept="application/x-tar,.tar"
            disabled={isBusy.value}
            onChange={(event) => {
              file.value = event.currentTarget.files?.[0] ?? null;
              event.currentTarget.value = '';
            }}
          />
        </label>
      </div>
      {!session.isSecured.value && <p class="hint">{texts.errors.localOnly}</p>}
      {file.value !== null && (
        <Confirm
          title={words.restoreTitle({ name })}
          submit={words.restore}
          isDanger
          onClose={() => (file.value = null)}
          onSubmit={() => {
            const chosen = file.value;
            file.value = null;
            if (chosen !== null) void restore(chosen);
          }}
        >
          <p>{words.restoreTask({ file: file.value.name, size: format.bytes(file.value.size) })}</p>
        </Confirm>
      )}
    </Part>
  );
};

export const Machine = ({ box }: { box: Box }) => {
  const { access, texts } = useConsole();
  const words = texts.boxes.machine;
  const { name, url, status } = box;
  return (
    <div class="stack machine">
      <Displays box={box} />
      <Volume box={box} />
      {access.may('POST /console/api/boxes/:nodeId/restart') && <Power box={box} />}
      {!access.may('GET /console/api/backup') ? null : status === 'here' ? (
        <Backup box={box} />
      ) : (
        <Part title={words.backup} told={null}>
          <p class="hint">{words.elsewhere}</p>
          {/^https?:\/\//.test(url) && (
            <p>
              <a href={`${url}/console#/boxes`}>{words.toBox({ name })}</a>
            </p>
          )}
        </Part>
      )}
    </div>
  );
};
