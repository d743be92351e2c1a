/** Asks for the secret once, and again if it was changed. The page behind is unchanged. */
import { useState } from 'preact/hooks';
import { reasonOf } from './api/errors.ts';
import { useConsole } from './ui/context.tsx';
import { Button, Dialog } from './ui/controls.tsx';
import { TextField } from './ui/inputs.tsx';
import { Lazy } from './ui/lazy.tsx';

const signOn = async () => (await import('./sign-on.tsx')).SignOn;

export const SignIn = () => {
  const { session, client, texts, hasSignOn } = useConsole();
  const [fault, setFault] = useState<string | null>(null);
  const [isChecking, setChecking] = useState(false);
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
        {session.removed.value !== null && (
          <p class="notice warning">
            {texts.ofBox(session.removed.value)}
            {location.protocol === 'http:' && ` ${words.keyKept}`}
          </p>
        )}
        <p class={session.wasRefused.value ? 'notice warning' : 'soft'}>
          {session.wasRefused.value ? words.again : words.task}
        </p>
        <TextField label={words.secret} fault={fault} name="secret" type="password" autocomplete="current-password" />
        <TextField
          label={words.name}
          hint={words.nameHint}
          name="name"
          autocomplete="username"
          maxLength={64}
          defaultValue={session.operator.value}
        />
        <Button type="submit" class="primary" aria-disabled={isChecking}>
          {isChecking ? words.checking : words.submit}
        </Button>
      </form>
      {hasSignOn && (
        <section class="sign-on">
          <h3>{texts.signOn.title}</h3>
          <Lazy load={signOn} with={{}} />
        </section>
      )}
    </Dialog>
  );
};
