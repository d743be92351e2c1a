/** The ten commands as buttons, and how each of them went, in words. */
import { useSignal } from '@preact/signals';
import type { Command, CommandResult } from '../../../service/contract/commands.ts';
import type { Display } from '../model/displays.ts';
import { useConsole } from '../ui/context.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { RedirectDialog, RenameDialog } from './dialogs.tsx';

interface CommandsProps {
  slug: string;
  displays: readonly Display[];
  target: Display | null;
}

type Body = { command: Command['command'] } & Record<string, unknown>;

export const Commands = ({ slug, displays, target }: CommandsProps) => {
  const { client, texts, site, announcer } = useConsole();
  const words = texts.commands;
  const names: Readonly<Record<string, string>> = words.name;
  const nameOf = (command: string): string => names[command] ?? command;
  const open = useSignal<'redirect' | 'rename' | null>(null);
  const meant = target === null ? displays : [target];
  const isBlack = meant.some(({ connection }) => connection?.blackout === true);
  const paused = meant.flatMap(({ connection }) => (connection?.paused ? connection.id : []));
  const isPaused = paused.length > 0;

  /**
   * @param undo sent by a tap on what announces that it was done
   * @param connectionIds absent: of the display that is meant, or else of all
   */
  const send = async (
    body: Body,
    undo?: { label: string; body: Body },
    connectionIds: readonly (string | undefined)[] = [target?.connection?.id],
  ): Promise<void> => {
    if (target !== null && target.connection === null) return announcer.complain(words.notConnected);
    try {
      const path = `/api/screens/${encodeURIComponent(slug)}/commands`;
      const results = await Promise.all(
        connectionIds.map((connectionId) =>
          client.json<CommandResult>(path, { method: 'POST', body: { ...body, connectionId } }),
        ),
      );
      const sent = results.reduce((sum, result) => sum + result.sent, 0);
      const degraded = results.some((result) => result.degraded);
      const text = `${nameOf(body.command)}: ${words.sent({ count: sent })}`;
      if (sent === 0 || degraded) announcer.complain(degraded ? `${text} ${words.degraded}` : text);
      else announcer.say(text, undo && { label: undo.label, act: () => void send(undo.body) });
      void site.refresh();
    } catch (error) {
      announcer.report(error);
    }
  };

  const button = (icon: IconName, label: string, body: Body, connectionIds?: readonly string[]) => (
    <button type="button" class="command" onClick={() => void send(body, undefined, connectionIds)}>
      <Icon name={icon} />
      <span>{label}</span>
    </button>
  );

  return (
    <section class="panel">
      <h2>{target?.name ?? words.title({ count: displays.length })}</h2>
      <div class="commands">
        {button('previous', words.name.previous, { command: 'previous' })}
        {/* The command toggles: it would pause the displays that play. */}
        {isPaused
          ? button('play', words.resume, { command: 'pause' }, paused)
          : button('pause', words.name.pause, { command: 'pause' })}
        {button('next', words.name.next, { command: 'next' })}
        {button('left', words.name.left, { command: 'left' })}
        {button('right', words.name.right, { command: 'right' })}
        {button('refresh', words.name.refresh, { command: 'refresh' })}
        {button('reload', words.name.reload, { command: 'reload' })}
        <button type="button" class="command" onClick={() => (open.value = 'redirect')}>
          <Icon name="redirect" />
          <span>{words.name.redirect} …</span>
        </button>
        {target !== null && (target.device ?? target.connection?.deviceId ?? null) !== null && (
          <button type="button" class="command" onClick={() => (open.value = 'rename')}>
            <Icon name="rename" />
            <span>{words.name.setclientname} …</span>
          </button>
        )}
      </div>
      {/* Apart from the arrows, so that no thumb meets it by mistake. */}
      <button
        type="button"
        class="command blackout-command"
        onClick={() =>
          void send(
            { command: 'blackout', blackout: !isBlack },
            isBlack ? undefined : { label: words.undo, body: { command: 'blackout', blackout: false } },
          )
        }
      >
        <Icon name="blackout" />
        <span>{isBlack ? words.light : words.name.blackout}</span>
      </button>
      {open.value === 'redirect' && (
        <RedirectDialog
          onClose={() => (open.value = null)}
          onSend={(url) => {
            open.value = null;
            void send({ command: 'redirect', url });
          }}
        />
      )}
      {open.value === 'rename' && target !== null && (
        <RenameDialog
          name={target.name ?? ''}
          deviceId={target.device?.deviceId ?? target.connection?.deviceId}
          onClose={() => (open.value = null)}
          onSend={(clientName) => {
            open.value = null;
            const deviceId = target.device?.deviceId ?? target.connection?.deviceId;
            void send({ command: 'setclientname', clientName, deviceId });
          }}
        />
      )}
    </section>
  );
};
