/** One screen: its picture large, its displays, commands, and what it plays. */

import { useSignal } from '@preact/signals';
import type { Command, CommandResult } from '../../../service/contract/commands.ts';
import { byUrgency, type Display, displaysOf } from '../model/displays.ts';
import { shownSlide } from '../model/shown.ts';
import { titleOf } from '../model/titles.ts';
import { hrefOf } from '../stores/router.ts';
import { reasonOf } from '../texts/reason.ts';
import { useConsole } from '../ui/context.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { View } from '../ui/view.tsx';
import { RedirectDialog, RenameDialog } from './dialogs.tsx';
import { Displays } from './displays.tsx';
import { PlanPanel } from './plan-panel.tsx';

interface CommandsProps {
  slug: string;
  displays: readonly Display[];
  /** Null: all of them. */
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
  const isPaused = meant.some(({ connection }) => connection?.paused === true);

  const send = async (body: Body): Promise<void> => {
    const connectionId = target?.connection?.id;
    if (target !== null && connectionId === undefined) return announcer.complain(words.notConnected);
    try {
      const { sent, degraded } = await client.json<CommandResult>(`/api/screens/${encodeURIComponent(slug)}/commands`, {
        method: 'POST',
        body: { ...body, ...(connectionId === undefined ? {} : { connectionId }) },
      });
      const text = `${nameOf(body.command)}: ${words.sent({ count: sent })}`;
      if (sent === 0 || degraded) announcer.complain(degraded ? `${text} ${words.degraded}` : text);
      else announcer.say(text);
      void site.refresh();
    } catch (error) {
      announcer.complain(reasonOf(error, texts));
    }
  };

  const button = (icon: IconName, label: string, body: Body) => (
    <button type="button" class="command" onClick={() => void send(body)}>
      <Icon name={icon} />
      <span>{label}</span>
    </button>
  );

  return (
    <section class="panel">
      <h2>{target?.name ?? words.title({ count: displays.length })}</h2>
      <div class="commands">
        {button('previous', words.name.previous, { command: 'previous' })}
        {button(isPaused ? 'play' : 'pause', isPaused ? words.resume : words.name.pause, { command: 'pause' })}
        {button('next', words.name.next, { command: 'next' })}
        {button('left', words.name.left, { command: 'left' })}
        {button('blackout', isBlack ? words.light : words.name.blackout, { command: 'blackout', blackout: !isBlack })}
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

/** A display is photographed at most once in 5 s. */
const PHOTO_MS = 5_200;

export const ScreenPage = ({ slug }: { slug: string }) => {
  const { site, documents, texts } = useConsole();
  const selected = useSignal<string | null>(null);
  const isKnown = site.slugs.value.includes(slug);
  const screen = isKnown ? site.screen(slug)?.value : undefined;
  if (site.overview.value === null) return <p class="soft">{texts.loading}</p>;
  if (screen === undefined) {
    return (
      <div class="empty">
        <h1>{texts.screenPage.gone}</h1>
        <a class="button" href={hrefOf('screens')}>
          {texts.screenPage.back}
        </a>
      </div>
    );
  }
  const displays = displaysOf(screen).toSorted(byUrgency);
  const target = displays.find(({ key }) => key === selected.value) ?? (displays.length === 1 ? displays[0] : null);
  const pictured = target ?? displays.find(({ connection }) => connection !== null) ?? displays[0];
  const content = documents.current.value?.content ?? null;
  const shown = shownSlide(pictured?.connection ?? null, slug, content, site.overview.value.takeovers);
  return (
    <>
      <div class="page-head">
        <a class="icon-button" href={hrefOf('screens')} aria-label={texts.screenPage.back}>
          <Icon name="back" />
        </a>
        <h1>{screen.screen.name}</h1>
        <div class="actions buttons">
          {screen.screen.playlist_id !== null && (
            <a class="button small" href={hrefOf('content', 'playlists', screen.screen.playlist_id)}>
              {texts.screenPage.edit}
            </a>
          )}
          <a class="button small" href={`/screen/${slug}`} target="_blank" rel="noreferrer">
            {texts.screenPage.open}
          </a>
        </div>
      </div>
      <div class="screen-page">
        <div class="screen-main">
          {pictured === undefined ? (
            <div class="no-display">
              <p class="state quiet">{texts.noDisplay}</p>
              <p>{texts.wall.noDisplayTask}</p>
              <p class="address">{`${location.host}/screen/${slug}`}</p>
            </div>
          ) : (
            <figure class="large-view">
              <View key={pictured.key} display={pictured} slide={shown} every={PHOTO_MS} />
              <figcaption>
                <strong>{pictured.name ?? texts.unnamed}</strong>{' '}
                <span class="soft">
                  {shown === null ? pictured.connection?.currentSlideTitle : titleOf(shown.slide, shown.id)}
                </span>
              </figcaption>
            </figure>
          )}
          {displays.length > 0 && <Commands slug={slug} displays={displays} target={target ?? null} />}
        </div>
        <div class="screen-side">
          {displays.length > 0 && (
            <Displays
              slug={slug}
              displays={displays}
              selected={selected.value}
              onSelect={(key) => {
                selected.value = key;
              }}
            />
          )}
          <PlanPanel slug={slug} current={pictured?.connection?.currentSlide ?? null} />
        </div>
      </div>
    </>
  );
};
