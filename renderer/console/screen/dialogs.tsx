/** The dialogs that ask for the arguments of a command. */
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { useConsole } from '../ui/context.tsx';
import { Dialog } from '../ui/dialog.tsx';

interface AskProps {
  title: string;
  submit: string;
  isDanger?: boolean;
  onClose(): void;
  /** Returns why it cannot continue; null: it continues. */
  onSubmit(form: FormData): string | null;
  children: (faultId: string, isFaulty: boolean) => ComponentChildren;
}

const Ask = ({ title, submit, isDanger = false, onClose, onSubmit, children }: AskProps) => {
  const { texts } = useConsole();
  const [fault, setFault] = useState<string | null>(null);
  const faultId = useId();
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          setFault(onSubmit(new FormData(event.currentTarget)));
        }}
      >
        {children(faultId, fault !== null)}
        <p class="fault" id={faultId} role="alert">
          {fault}
        </p>
        <div class="buttons end">
          <button type="button" class="button" onClick={onClose}>
            {texts.cancel}
          </button>
          <button type="submit" class={isDanger ? 'button danger primary' : 'button primary'}>
            {submit}
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
  const [id, listId] = [useId(), useId()];
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
      {(faultId, isFaulty) => (
        <div class="field">
          <label for={id}>{words.address}</label>
          <input
            id={id}
            name="url"
            inputMode="url"
            autocomplete="off"
            autocapitalize="none"
            list={listId}
            placeholder="https://"
            aria-invalid={isFaulty}
            aria-describedby={faultId}
          />
          <datalist id={listId}>
            {site.screens().map(({ screen }) => (
              <option key={screen.slug} value={`/screen/${screen.slug}`}>
                {screen.name}
              </option>
            ))}
          </datalist>
          <p class="hint">{words.addressHint}</p>
        </div>
      )}
    </Ask>
  );
};

const isName = (name: string): boolean => name.length >= 1 && name.length <= 64;

export const RenameDialog = ({ name, onClose, onSend }: SendProps & { name: string }) => {
  const { texts } = useConsole();
  const words = texts.commands;
  const id = useId();
  return (
    <Ask
      title={words.name.setclientname}
      submit={words.rename}
      onClose={onClose}
      onSubmit={(form) => {
        const given = String(form.get('name')).trim();
        if (!isName(given)) return words.badName;
        onSend(given);
        return null;
      }}
    >
      {(faultId, isFaulty) => (
        <div class="field">
          <label for={id}>{words.newName}</label>
          <input
            id={id}
            name="name"
            maxLength={64}
            defaultValue={name}
            autocomplete="off"
            aria-invalid={isFaulty}
            aria-describedby={faultId}
          />
        </div>
      )}
    </Ask>
  );
};

export const MoveDialog = ({ from, onClose, onSend }: SendProps & { from: string }) => {
  const { texts, site } = useConsole();
  const words = texts.device;
  const id = useId();
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
        <div class="field">
          <label for={id}>{words.moveTo}</label>
          <select id={id} name="slug">
            {site
              .screens()
              .filter(({ screen }) => screen.slug !== from)
              .map(({ screen }) => (
                <option key={screen.slug} value={screen.slug}>
                  {screen.name}
                </option>
              ))}
          </select>
        </div>
      )}
    </Ask>
  );
};

export const ForgetDialog = ({ name, onClose, onSend }: SendProps & { name: string }) => {
  const { texts } = useConsole();
  const words = texts.device;
  return (
    <Ask
      title={words.forgetTitle({ name })}
      submit={words.forget}
      isDanger
      onClose={onClose}
      onSubmit={() => {
        onSend('');
        return null;
      }}
    >
      {() => <p>{words.forgetTask}</p>}
    </Ask>
  );
};
