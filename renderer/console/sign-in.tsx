/** Asks for the secret once, and again if it was changed. The page behind is unchanged. */
import { useId, useState } from 'preact/hooks';
import { reasonOf } from './texts/reason.ts';
import { useConsole } from './ui/context.tsx';
import { Dialog } from './ui/dialog.tsx';

export const SignIn = () => {
  const { session, client, texts } = useConsole();
  const [fault, setFault] = useState<string | null>(null);
  const [isChecking, setChecking] = useState(false);
  const [secretId, nameId, faultId, hintId] = [useId(), useId(), useId(), useId()];
  const words = texts.signIn;

  const submit = async (form: HTMLFormElement): Promise<void> => {
    const given = new FormData(form);
    const secret = String(given.get('secret'));
    if (secret === '') return setFault(words.missing);
    setChecking(true);
    setFault(null);
    try {
      if (await client.check(secret)) session.signIn(secret, String(given.get('name')).trim());
      else setFault(words.wrong);
    } catch (error) {
      setFault(reasonOf(error, texts));
    } finally {
      setChecking(false);
    }
  };

  return (
    <Dialog title={words.title}>
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!isChecking) void submit(event.currentTarget);
        }}
      >
        <p class={session.wasRefused.value ? 'notice warning' : 'soft'}>
          {session.wasRefused.value ? words.again : words.task}
        </p>
        <div class="field">
          <label for={secretId}>{words.secret}</label>
          <input
            id={secretId}
            name="secret"
            type="password"
            autocomplete="current-password"
            aria-invalid={fault !== null}
            aria-describedby={faultId}
          />
          <p class="fault" id={faultId} role="alert">
            {fault}
          </p>
        </div>
        <div class="field">
          <label for={nameId}>{words.name}</label>
          <input
            id={nameId}
            name="name"
            autocomplete="username"
            maxLength={64}
            defaultValue={session.operator.value}
            aria-describedby={hintId}
          />
          <p class="hint" id={hintId}>
            {words.nameHint}
          </p>
        </div>
        <button type="submit" class="button primary" aria-disabled={isChecking}>
          {isChecking ? words.checking : words.submit}
        </button>
      </form>
    </Dialog>
  );
};
