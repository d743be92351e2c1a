/** The displays of a screen: selection, and actions on one. */
import { useSignal } from '@preact/signals';
import type { CommandResult } from '../../../service/contract/commands.ts';
import type { ActionAnswer } from '../../../service/contract/console/actions.ts';
import type { Binding, OnboardingResult } from '../../../service/contract/onboarding.ts';
import { isProvableId } from '../../../service/contract/readable.ts';
import { Unreachable } from '../api/errors.ts';
import { type Display, deviceIdOf, toneOf } from '../model/displays.ts';
import type { Device } from '../model/wire.ts';
import { useConsole } from '../ui/context.tsx';
import { Button } from '../ui/controls.tsx';
import { FaultNote } from '../ui/view.tsx';
import { useWords } from '../ui/words.ts';
import { ForgetDialog, MoveDialog } from './dialogs.tsx';

/** How long a box may take to answer for its hardware, ms. */
const HARDWARE_MS = 15_000;

interface DisplaysProps {
  slug: string;
  displays: readonly Display[];
  /** The key of the display that commands go to; null: all of them. */
  selected: string | null;
  onSelect(display: Display | null): void;
}

export const Displays = ({ slug, displays, selected, onSelect }: DisplaysProps) => {
  const { access, client, session, site, texts, format, clock, announcer } = useConsole();
  const words = texts.device;
  const mayAct = access.may('DELETE /console/api/devices/:deviceId', [site.screen(slug)?.value.tags ?? []]);
  const stateWords = useWords();
  const moving = useSignal<Display | null>(null);
  const forgetting = useSignal<Display | null>(null);

  /** With a secret, only a display that can prove its id has a code. */
  const hasCode = (deviceId: string): boolean => !session.isSecured.value || isProvableId(deviceId);

  const attempt = async (act: () => Promise<string>): Promise<void> => {
    try {
      announcer.say(await act());
      await site.refresh();
    } catch (error) {
      announcer.report(error);
    }
  };

  const move = (display: Display, screenSlug: string): void => {
    moving.value = null;
    const deviceId = deviceIdOf(display);
    if (deviceId === null) return;
    const body: Binding = { deviceId, clientName: (display.name ?? texts.unnamed).slice(0, 64), screenSlug };
    void attempt(async () => {
      const { screenName, queued } = await client.json<OnboardingResult>('/api/onboarding', { method: 'POST', body });
      onSelect(null);
      return queued ? words.movedLater({ screen: screenName }) : words.moved({ screen: screenName });
    });
  };

  const forget = (deviceId: string): void => {
    forgetting.value = null;
    void attempt(async () => {
      await client.json(`/console/api/devices/${encodeURIComponent(deviceId)}`, { method: 'DELETE' });
      onSelect(null);
      return words.forgotten;
    });
  };

  /** The landing page of a device that is bound: a person in front of it can bind it elsewhere. */
  const showCode = (deviceId: string, connectionId: string): void =>
    void attempt(async () => {
      const { sent } = await client.json<CommandResult>(`/api/screens/${encodeURIComponent(slug)}/commands`, {
        method: 'POST',
        body: { command: 'redirect', url: `/?deviceId=${encodeURIComponent(deviceId)}&show=code`, connectionId },
      });
      if (sent === 0) throw new Unreachable('The display is not connected.');
      return words.codeShown;
    });

  /** Of one that somebody has switched off. */
  const switchOn = ({ deviceId, nodeId }: Device): void =>
    void attempt(async () => {
      const answer = await client.json<ActionAnswer>(`/console/api/boxes/${encodeURIComponent(nodeId ?? '')}/actions`, {
        method: 'POST',
        body: { action: 'display-on', display: deviceId },
        timeout: HARDWARE_MS,
      });
      return texts.boxes.machine.result[answer.result]({ message: texts.ofBox(answer.message) });
    });

  const viewportOf = ({ connection }: Display): string => {
    const viewport = connection?.viewport;
    return viewport == null ? '' : `${viewport.width} × ${viewport.height}`;
  };

  return (
    <section class="panel">
      <h2>{words.title}</h2>
      <ul class="device-list">
        {displays.length > 1 && (
          <li>
            <label class="row device-choice">
              <input type="radio" name="display" checked={selected === null} onChange={() => onSelect(null)} />
              <span class="device-name">{words.all({ count: displays.length })}</span>
            </label>
          </li>
        )}
        {displays.map((display) => {
          const { key, name, state, device, connection } = display;
          return (
            <li key={key}>
              <label class="row device-choice">
                <input
                  type="radio"
                  name="display"
                  checked={selected === key || displays.length === 1}
                  onChange={() => onSelect(display)}
                />
                <span class="device-name">{name ?? texts.unnamed}</span>
                <span class={`state ${toneOf[state]}`}>{stateWords(display, slug)}</span>
              </label>
              <FaultNote display={display} slug={slug} />
              {device?.off && access.may('POST /console/api/boxes/:nodeId/actions') && (
                <Button class="small" onClick={() => switchOn(device)}>
                  {texts.boxes.machine.on}
                </Button>
              )}
              {(selected === key || displays.length === 1) && (
                <>
                  <p class="device-facts">
                    {[
                      device === null ? words.unbound : null,
                      connection?.clientIp,
                      viewportOf(display),
                      connection && words.since({ time: format.when(connection.connectedAt, clock.now()) }),
                      deviceIdOf(display),
                    ]
                      .filter(Boolean)
                      .join(' · ')}
                  </p>
                  {mayAct && (
                    <div class="buttons">
                      {deviceIdOf(display) !== null && site.slugs.value.length > 1 && (
                        <Button class="small" onClick={() => (moving.value = display)}>
                          {words.move} …
                        </Button>
                      )}
                      {device !== null && connection !== null && hasCode(device.deviceId) && (
                        <Button class="small" onClick={() => showCode(device.deviceId, connection.id)}>
                          {words.showCode}
                        </Button>
                      )}
                      {device !== null && (
                        <Button class="small" onClick={() => (forgetting.value = display)}>
                          {words.forget} …
                        </Button>
                      )}
                    </div>
                  )}
                </>
              )}
            </li>
          );
        })}
      </ul>
      {moving.value !== null && (
        <MoveDialog
          from={slug}
          onClose={() => (moving.value = null)}
          onSend={(to) => moving.value !== null && move(moving.value, to)}
        />
      )}
      {forgetting.value?.device && (
        <ForgetDialog
          name={forgetting.value.name ?? texts.unnamed}
          onClose={() => (forgetting.value = null)}
          onSend={() => forgetting.value?.device && forget(forgetting.value.device.deviceId)}
        />
      )}
    </section>
  );
};
