/** The dialogs that ask for the arguments of a command. */
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { useConsole } from '../ui/context.tsx';
import { Confirm, Dialog, Field } from '../ui/controls.tsx';

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
        if (given.length < 1 || given.length > 64) return words.badName;
        onSend(given);
        return null;
      }}
    >
      {(fault) => (
        <Field label={words.newName} fault={fault}>
          {(control) => <input {...control} name="name" maxLength={64} defaultValue={name} autocomplete="off" />}
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
