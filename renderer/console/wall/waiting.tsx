/** The displays that wait for a screen: their landing page is open, and they are not bound. */
import { useSignal } from '@preact/signals';
import type { Binding, OnboardingResult } from '../../../service/contract/onboarding.ts';
import { shownDeviceId } from '../../../service/contract/readable.ts';
import { reasonOf } from '../api/errors.ts';
import { useConsole } from '../ui/context.tsx';
import { Lazy } from '../ui/lazy.tsx';

const connectDialog = async () => (await import('../screen/dialogs.tsx')).ConnectDialog;

export const Waiting = () => {
  const { access, client, site, texts, announcer } = useConsole();
  const words = texts.waiting;
  // A page that is loaded again meanwhile does not close the dialog.
  const connecting = useSignal<string | null>(null);
  const { waiting = [], boxes = [] } = site.overview.value ?? {};

  const connect = async (body: Binding): Promise<void> => {
    connecting.value = null;
    try {
      const { screenName, queued } = await client.json<OnboardingResult>('/api/onboarding', { method: 'POST', body });
      announcer.say((queued ? texts.device.movedLater : texts.device.moved)({ screen: screenName }));
      await site.refresh();
    } catch (error) {
      announcer.complain(reasonOf(error, texts));
    }
  };

  return (
    <>
      {waiting.length > 0 && (
        <section class="panel waiting" aria-labelledby="waiting">
          <h2 id="waiting">{words.title}</h2>
          <p class="soft">{words.task}</p>
          <ul class="device-list">
            {waiting.map(({ deviceId, nodeId }) => (
              <li key={deviceId}>
                <span class="address">{shownDeviceId(deviceId)}</span>
                {boxes.length > 1 && <span class="soft">{boxes.find((box) => box.nodeId === nodeId)?.name}</span>}
                {site.slugs.value.length > 0 && access.may('POST /api/screens/:slug/commands') && (
                  <button type="button" class="button small" onClick={() => (connecting.value = deviceId)}>
                    {words.connect} …<span class="unseen"> {shownDeviceId(deviceId)}</span>
                  </button>
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
      {connecting.value !== null && (
        <Lazy
          load={connectDialog}
          with={{
            deviceId: connecting.value,
            onClose: () => (connecting.value = null),
            onSend: (binding: Binding) => void connect(binding),
          }}
        />
      )}
    </>
  );
};
