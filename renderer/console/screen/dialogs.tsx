/** The dialogs that ask for the arguments of a command. */
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { Binding } from '../../../service/contract/onboarding.ts';
import { shownDeviceId } from '../../../service/contract/readable.ts';
import { suggestName } from '../../shared/name.ts';
import { useConsole } from '../ui/context.tsx';
import { Confirm, Dialog, Field } from '../ui/controls.tsx';

/** Maximum length of a display's name, UTF-16 code units. */
const MAX_NAME = 64;

const Ask = (props: {
  title: string;
  submit: string;
  onClose(): void;
  /** Returns why it cannot continue; null: it continues. */
  onSubmit(form: FormData): string | null;
  /** @param fault why it did not continue */
  children(fault: string | null): ComponentChildren;
}) => {
  const { texts } = useConsole();
  const [fault, setFault] = useState<string | null>(null);
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          setFault(props.onSubmit(new FormData(event.currentTarget)));
        }}
      >
        {props.children(fault)}
        <div class="buttons end">
          <button type="button" class="button" onClick={props.onClose}>
            {texts.cancel}
          </button>
          <button type="submit" class="button primary">
            {props.submit}
          </button>
        </div>
      </form>
    </Dialog>
  );
};

interface SendProps {
  onClose(): void;
  onSend(value: string): void;
}

export const RedirectDialog = ({ onClose, onSend }: SendProps) => {
  const { texts, site } = useConsole();
  const words = texts.commands;
  const listId = useId();
  return (
    <Ask
      title={words.name.redirect}
      submit={words.send}
      onClose={onClose}
      onSubmit={(form) => {
        const url = String(form.get('url')).trim();
        if (!/^(https?:\/\/[^/]|\/screen\/|\/media\/)/i.test(url)) return words.badAddress;
        onSend(url);
        return null;
      }}
    >
      {(fault) => (
        <Field label={words.address} hint={words.addressHint} fault={fault}>
          {(control) => (
            <>
              <input
                {...control}
                name="url"
                inputMode="url"
                autocomplete="off"
                autocapitalize="none"
                list={listId}
                placeholder="https://"
              />
              <datalist id={listId}>
                {site.screens().map(({ screen }) => (
                  <option key={screen.slug} value={`/screen/${screen.slug}`}>
                    {screen.name}
                  </option>
                ))}
              </datalist>
            </>
          )}
        </Field>
      )}
    </Ask>
  );
};

export const RenameDialog = ({ name, onClose, onSend }: SendProps & { name: string }) => {
  const { texts } = useConsole();
  const words = texts.commands;
  return (
    <Ask
      title={words.name.setclientname}
      submit={words.rename}
      onClose={onClose}
      onSubmit={(form) => {
        const given = String(form.get('name')).trim();
        if (given.length < 1 || given.length > MAX_NAME) return words.badName;
        onSend(given);
        return null;
      }}
    >
      {(fault) => (
        <Field label={words.newName} fault={fault}>
          {(control) => <input {...control} name="name" maxLength={MAX_NAME} defaultValue={name} autocomplete="off" />}
        </Field>
      )}
    </Ask>
  );
};

export const MoveDialog = ({ from, onClose, onSend }: SendProps & { from: string }) => {
  const { texts, site } = useConsole();
  const words = texts.device;
  return (
    <Ask
      title={words.move}
      submit={words.move}
      onClose={onClose}
      onSubmit={(form) => {
        onSend(String(form.get('slug')));
        return null;
      }}
    >
      {() => (
        <Field label={words.moveTo}>
          {(control) => (
            <select {...control} name="slug">
              {site
                .screens()
                .filter(({ screen }) => screen.slug !== from)
                .map(({ screen }) => (
                  <option key={screen.slug} value={screen.slug}>
                    {screen.name}
                  </option>
                ))}
            </select>
          )}
        </Field>
      )}
    </Ask>
  );
};

interface ConnectProps {
  deviceId: string;
  onClose(): void;
  onSend(binding: Binding): void;
}

/** Asks for the screen and the name of a device; suggests a name that no other one has. */
export const ConnectDialog = ({ deviceId, onClose, onSend }: ConnectProps) => {
  const { texts, site } = useConsole();
  const [chosen, setChosen] = useState<string | null>(null);
  const [typed, setTyped] = useState<string | null>(null);
  const screens = site.screens();
  const { screen } = screens.find((each) => each.screen.slug === chosen) ?? screens[0] ?? {};
  const taken = new Set(
    screens.flatMap(({ devices, connections }) => [...devices, ...connections].map(({ clientName }) => clientName)),
  );
  return (
    <Ask
      title={texts.waiting.connectTitle({ device: shownDeviceId(deviceId) })}
      submit={texts.waiting.connect}
      onClose={onClose}
      onSubmit={(form) => {
        const clientName = String(form.get('name')).trim();
        if (clientName.length < 1 || clientName.length > MAX_NAME) return texts.commands.badName;
        onSend({ deviceId, clientName, screenSlug: String(form.get('slug')) });
        return null;
      }}
    >
      {(fault) => (
        <>
          <Field label={texts.waiting.screen}>
            {(control) => (
              <select
                {...control}
                name="slug"
                value={screen?.slug}
                onChange={(event) => setChosen(event.currentTarget.value)}
              >
                {screens.map(({ screen: { slug, name } }) => (
                  <option key={slug} value={slug}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label={texts.commands.newName} fault={fault}>
            {(control) => (
              <input
                {...control}
                name="name"
                maxLength={MAX_NAME}
                autocomplete="off"
                value={typed ?? suggestName(screen?.name ?? '', taken, MAX_NAME)}
                onInput={(event) => setTyped(event.currentTarget.value)}
              />
            )}
          </Field>
        </>
      )}
    </Ask>
  );
};

export const ForgetDialog = ({ name, onClose, onSend }: SendProps & { name: string }) => {
  const { texts } = useConsole();
  const words = texts.device;
  return (
    <Confirm
      title={words.forgetTitle({ name })}
      submit={words.forget}
      isDanger
      onClose={onClose}
      onSubmit={() => onSend('')}
    >
      <p>{words.forgetTask}</p>
    </Confirm>
  );
};
