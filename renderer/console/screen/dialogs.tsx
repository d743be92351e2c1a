/** The dialogs that ask for the arguments of a command. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import type { Binding, OnboardingStatus } from '../../../service/contract/onboarding.ts';
import { shownDeviceId } from '../../../service/contract/readable.ts';
import { suggestName } from '../../shared/name.ts';
import type { SiteScreen } from '../model/wire.ts';
import { useConsole } from '../ui/context.tsx';
import { Confirm, Field, FormDialog } from '../ui/controls.tsx';
import { SelectField, TextField } from '../ui/inputs.tsx';

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
  const [fault, setFault] = useState<string | null>(null);
  return (
    <FormDialog
      title={props.title}
      submit={props.submit}
      noValidate
      onClose={props.onClose}
      onSubmit={(form) => setFault(props.onSubmit(form))}
    >
      {props.children(fault)}
    </FormDialog>
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

/** The names that other devices have. */
const namesBeside = (screens: readonly SiteScreen[], deviceId: string | null | undefined): Set<string | null> =>
  new Set(
    screens.flatMap(({ devices, connections }) =>
      [...devices, ...connections].filter((each) => each.deviceId !== deviceId).map(({ clientName }) => clientName),
    ),
  );

interface RenameProps extends SendProps {
  name: string;
  deviceId: string | null | undefined;
}

/** Asks once more before it gives a name that another device has. */
export const RenameDialog = ({ name, deviceId, onClose, onSend }: RenameProps) => {
  const { texts, site } = useConsole();
  const words = texts.commands;
  const [agreed, setAgreed] = useState<string | null>(null);
  return (
    <Ask
      title={words.name.setclientname}
      submit={agreed === null ? words.rename : words.renameAnyway}
      onClose={onClose}
      onSubmit={(form) => {
        const given = String(form.get('name')).trim();
        if (given.length < 1 || given.length > MAX_NAME) return words.badName;
        if (given !== agreed && given !== name && namesBeside(site.screens(), deviceId).has(given)) {
          setAgreed(given);
          return texts.waiting.sameQuestion({ name: given });
        }
        onSend(given);
        return null;
      }}
    >
      {(fault) => (
        <TextField
          label={words.newName}
          fault={fault}
          name="name"
          maxLength={MAX_NAME}
          defaultValue={name}
          autocomplete="off"
        />
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
        <SelectField
          label={words.moveTo}
          name="slug"
          options={site
            .screens()
            .flatMap(({ screen: { slug, name } }) => (slug === from ? [] : [[slug, name] as const]))}
        />
      )}
    </Ask>
  );
};

interface ConnectProps {
  deviceId: string;
  onClose(): void;
  onSend(binding: Binding): void;
}

/**
 * Asks for the screen and the name of a device; suggests the name that it has, else one that no other one has. Asks once
 * more before it changes a name, or gives one that another device has.
 */
export const ConnectDialog = ({ deviceId, onClose, onSend }: ConnectProps) => {
  const { texts, site, client } = useConsole();
  const words = texts.waiting;
  const [chosen, setChosen] = useState<string | null>(null);
  const [typed, setTyped] = useState<string | null>(null);
  const [given, setGiven] = useState<string | null>(null);
  const [agreed, setAgreed] = useState<string | null>(null);
  useEffect(() => {
    const path = `/api/onboarding/status?deviceId=${encodeURIComponent(deviceId)}`;
    client.json<OnboardingStatus>(path).then(
      ({ clientName }) => setGiven(clientName),
      () => undefined,
    );
  }, [client, deviceId]);
  const screens = site.screens();
  const { screen } = screens.find((each) => each.screen.slug === chosen) ?? screens[0] ?? {};
  const taken = namesBeside(screens, deviceId);
  const value = typed ?? given ?? suggestName(screen?.name ?? '', taken, MAX_NAME);
  const name = value.trim();
  const isRenamed = given !== null && given !== name;
  const question = isRenamed
    ? words.renameQuestion({ from: given, to: name })
    : given === null && taken.has(name)
      ? words.sameQuestion({ name })
      : null;
  return (
    <Ask
      title={words.connectTitle({ device: shownDeviceId(deviceId) })}
      submit={question !== null && question === agreed ? words.connectAnyway : words.connect}
      onClose={onClose}
      onSubmit={(form) => {
        if (name.length < 1 || name.length > MAX_NAME) return texts.commands.badName;
        if (question !== null && question !== agreed) {
          setAgreed(question);
          return question;
        }
        onSend({ deviceId, clientName: name, screenSlug: String(form.get('slug')) });
        return null;
      }}
    >
      {(fault) => (
        <>
          <SelectField
            label={words.screen}
            name="slug"
            value={screen?.slug ?? ''}
            options={screens.map(({ screen: { slug, name: screenName } }) => [slug, screenName])}
            onValue={setChosen}
          />
          <TextField
            label={texts.commands.newName}
            fault={fault}
            name="name"
            maxLength={MAX_NAME}
            autocomplete="off"
            value={value}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
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
