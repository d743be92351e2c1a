/** Triggers: addresses with which other systems show a saved message, play a playlist or send a command. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { NewTrigger, Trigger, TriggerEffect, TriggerTrial } from '../../../service/contract/console/triggers.ts';
import { useConsole } from '../ui/context.tsx';
import { Button, Confirm, Dialog } from '../ui/controls.tsx';
import { NewTriggerDialog } from './new-trigger.tsx';

/** What it does, as a sentence. */
const useDoes = () => {
  const { texts, documents, format } = useConsole();
  const words = texts.triggers;
  const { messages = [], playlists = [] } = documents.current.value?.content ?? {};
  const messageOf = (id: string): string => messages.find((message) => message.id === id)?.title ?? id;
  return ({ takeover, end, playlist, command }: TriggerEffect): string => {
    if (takeover !== undefined) return words.does.takeover({ name: messageOf(takeover.message_id) });
    if (end !== undefined) return words.does.end({ name: messageOf(end.message_id) });
    if (playlist !== undefined) {
      const found = playlists.find(({ id }) => id === playlist.playlist_id);
      const name = found?.name ?? playlist.playlist_id;
      return words.does.playlist({ name, time: format.duration(playlist.minutes * 60_000) });
    }
    const names: Readonly<Record<string, string>> = texts.commands.name;
    return words.does.command({ name: names[command?.command ?? ''] ?? command?.command ?? '' });
  };
};

const Row = ({ trigger, onRemove }: { trigger: Trigger; onRemove(): void }) => {
  const { access, client, texts, format, clock, announcer } = useConsole();
  const words = texts.triggers;
  const does = useDoes();
  const { id, name, effect, issue, created_by, created_at, fired_at } = trigger;
  const attempt = async (): Promise<void> => {
    try {
      const trial = await client.json<TriggerTrial>(`/console/api/triggers/${id}/try`, { method: 'POST', body: {} });
      if (trial.ok) announcer.say(words.works({ count: trial.displays }));
      else announcer.complain(words.fails({ reason: texts.ofBox(trial.issue ?? '') }));
    } catch (error) {
      announcer.report(error);
    }
  };
  const made = { name: created_by?.name ?? texts.somebody, time: format.when(created_at, clock.now()) };
  return (
    <li class="takeover trigger">
      <div class="takeover-about">
        <h3>{name}</h3>
        <p>{does(effect)}</p>
        <p class="soft">
          {words.made(made)}
          {fired_at !== null && ` · ${words.fired({ time: format.when(fired_at, clock.now()) })}`}
        </p>
        {issue !== null && <p class="state warning">{words.fails({ reason: texts.ofBox(issue) })}</p>}
      </div>
      {access.may('DELETE /console/api/triggers/:id') && (
        <div class="buttons">
          <Button aria-label={words.tryOf({ name })} onClick={() => void attempt()}>
            {words.try}
          </Button>
          <Button class="danger" aria-label={words.removeOf({ name })} onClick={onRemove}>
            {words.remove}
          </Button>
        </div>
      )}
    </li>
  );
};

/** The address of a new one, which is shown once. */
const Address = ({ made, onClose }: { made: NewTrigger; onClose(): void }) => {
  const { texts } = useConsole();
  const words = texts.triggers;
  return (
    <Dialog title={words.madeTitle({ name: made.name })} onClose={onClose} isWide>
      <div class="stack">
        <p>{words.address}</p>
        <p>
          <code class="trigger-address">{made.url}</code>
        </p>
        <p class="soft">{words.once}</p>
        {made.url.startsWith('http:') && <p class="state warning">{words.plain}</p>}
      </div>
    </Dialog>
  );
};

export const Triggers = () => {
  const { access, client, documents, texts, announcer } = useConsole();
  const words = texts.triggers;
  const list = useSignal<readonly Trigger[]>([]);
  const isNew = useSignal(false);
  const made = useSignal<NewTrigger | null>(null);
  const removing = useSignal<Trigger | null>(null);
  const load = async (): Promise<void> => {
    ({ triggers: list.value } = await client.json<{ triggers: Trigger[] }>('/console/api/triggers'));
  };
  useEffect(() => void load().catch(announcer.report), [documents.current.value?.sha256]);
  const remove = async ({ id }: Trigger): Promise<void> => {
    removing.value = null;
    await client
      .json(`/console/api/triggers/${id}`, { method: 'DELETE' })
      .then(() => announcer.say(words.removed))
      .catch(announcer.report);
    await load().catch(announcer.report);
  };
  return (
    <section class="open-takeovers">
      <h2>{words.title}</h2>
      <p class="soft">{words.about}</p>
      <ul>
        {list.value.map((trigger) => (
          <Row key={trigger.id} trigger={trigger} onRemove={() => (removing.value = trigger)} />
        ))}
      </ul>
      {access.may('POST /console/api/triggers') && (
        <div class="buttons">
          <Button onClick={() => (isNew.value = true)}>{words.new}</Button>
        </div>
      )}
      {isNew.value && (
        <NewTriggerDialog
          onClose={() => {
            isNew.value = false;
            // The box may have made one whose answer was lost.
            void load().catch(announcer.report);
          }}
          onMade={(trigger) => {
            isNew.value = false;
            made.value = trigger;
            void load().catch(announcer.report);
          }}
        />
      )}
      {made.value !== null && <Address made={made.value} onClose={() => (made.value = null)} />}
      {removing.value !== null && (
        <Confirm
          title={words.removeOf({ name: removing.value.name })}
          submit={words.remove}
          isDanger
          onClose={() => (removing.value = null)}
          onSubmit={() => removing.value !== null && void remove(removing.value)}
        >
          <p>{words.removeAbout}</p>
        </Confirm>
      )}
    </section>
  );
};
