/** Making a trigger: its name, what it does, and where. */
import { useSignal } from '@preact/signals';
import type { NewTrigger, TriggerEffect } from '../../../service/contract/console/triggers.ts';
import { mayHappen, reasonOf } from '../api/errors.ts';
import { useConsole } from '../ui/context.tsx';
import { Fault, FormDialog } from '../ui/controls.tsx';
import { SelectField, TextField, typedInto } from '../ui/inputs.tsx';
import { everywhere, Targets, targetsOf } from './targets.tsx';

const kinds = ['takeover', 'end', 'playlist', 'command'] as const;
/** Those that need no more than their name, and blackout as it is set. */
const commands = {
  dark: { command: 'blackout', blackout: true },
  light: { command: 'blackout', blackout: false },
  next: { command: 'next' },
  previous: { command: 'previous' },
  reload: { command: 'reload' },
} as const;
type CommandName = keyof typeof commands;

export const NewTriggerDialog = ({ onClose, onMade }: { onClose(): void; onMade(trigger: NewTrigger): void }) => {
  const { client, documents, texts } = useConsole();
  const words = texts.triggers;
  const { messages = [], playlists = [] } = documents.current.value?.content ?? {};
  const name = useSignal('');
  const kind = useSignal<(typeof kinds)[number]>(messages.length > 0 ? 'takeover' : 'playlist');
  const message = useSignal(String(messages[0]?.id ?? ''));
  const playlist = useSignal(String(playlists[0]?.id ?? ''));
  const command = useSignal<CommandName>('dark');
  const minutes = useSignal('30');
  const where = useSignal(everywhere);
  const fault = useSignal<string | null>(null);
  const isSending = useSignal(false);
  const needsMessage = kind.value === 'takeover' || kind.value === 'end';

  const effectOf = (): TriggerEffect => {
    const targets = targetsOf(where.value);
    if (kind.value === 'takeover') return { takeover: { message_id: message.value, targets } };
    if (kind.value === 'end') return { end: { message_id: message.value } };
    if (kind.value === 'playlist')
      return { playlist: { targets, playlist_id: playlist.value, minutes: Number(minutes.value) } };
    return { command: { targets, ...commands[command.value] } };
  };
  const make = async (): Promise<void> => {
    if (isSending.value) return;
    if (name.value.trim() === '') {
      fault.value = words.needsName;
      return;
    }
    isSending.value = true;
    try {
      const body = { name: name.value.trim(), effect: effectOf() };
      onMade(await client.json<NewTrigger>('/console/api/triggers', { method: 'POST', body }));
    } catch (error) {
      fault.value = reasonOf(error, texts) + (mayHappen(error) ? ` ${words.lost}` : '');
      isSending.value = false;
    }
  };

  const names = texts.commands;
  const commandNames: Readonly<Record<CommandName, string>> = {
    dark: names.name.blackout,
    light: names.light,
    next: names.name.next,
    previous: names.name.previous,
    reload: names.name.reload,
  };
  return (
    <FormDialog
      title={words.new}
      submit={words.make}
      isWide
      noValidate
      isBusy={isSending.value}
      onClose={onClose}
      onSubmit={() => void make()}
    >
      <TextField label={words.name} hint={words.nameHint} maxLength={100} autocomplete="off" {...typedInto(name)} />
      <SelectField
        label={words.what}
        value={kind.value}
        options={kinds.map((each) => [each, words.kind[each]])}
        onValue={(value) => (kind.value = value)}
      />
      {needsMessage && (
        <SelectField
          label={words.message}
          value={message.value}
          options={messages.map(({ id, title, body }) => [String(id), title ?? body ?? String(id)])}
          onValue={(value) => (message.value = value)}
        />
      )}
      {needsMessage && messages.length === 0 && <p class="hint">{words.noMessages}</p>}
      {kind.value === 'playlist' && (
        <>
          <SelectField
            label={words.playlist}
            value={playlist.value}
            options={playlists.map(({ id, name: title }) => [String(id), title ?? String(id)])}
            onValue={(value) => (playlist.value = value)}
          />
          <TextField label={words.minutes} type="number" min={1} {...typedInto(minutes)} />
        </>
      )}
      {kind.value === 'command' && (
        <SelectField
          label={words.command}
          value={command.value}
          options={Object.entries(commandNames) as [CommandName, string][]}
          onValue={(value) => (command.value = value)}
        />
      )}
      {kind.value !== 'end' && (
        <Targets
          where={where.value}
          fault={null}
          onChange={(changed) => (where.value = { ...where.value, ...changed })}
        />
      )}
      <Fault>{fault.value}</Fault>
    </FormDialog>
  );
};
