/** Secrets of pages: where their headers go. Their values are typed here, and never shown. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Secret } from '../../../service/contract/console/secrets.ts';
import { isCode, reasonOf } from '../api/errors.ts';
import { useConsole } from '../ui/context.tsx';
import { Button, Confirm, Dialog, Fault } from '../ui/controls.tsx';
import { TextField, typedInto } from '../ui/inputs.tsx';

const base = '/console/api/secrets';

const NewSecret = ({ onDone }: { onDone(): void }) => {
  const { client, texts } = useConsole();
  const words = texts.boxes.secrets;
  const given = {
    name: useSignal(''),
    origins: useSignal('https://'),
    header: useSignal('Authorization'),
    value: useSignal(''),
  };
  const fault = useSignal('');
  const send = async (): Promise<void> => {
    try {
      await client.json(`${base}/${encodeURIComponent(given.name.value.trim())}`, {
        method: 'PUT',
        body: {
          origins: given.origins.value.split(/\s+/).filter(Boolean),
          headers: { [given.header.value.trim()]: given.value.value.trim() },
        },
      });
      onDone();
    } catch (error) {
      fault.value = reasonOf(error, texts);
    }
  };
  return (
    <Dialog title={words.new} onClose={onDone}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        {(['name', 'origins', 'header', 'value'] as const).map((each) => (
          <TextField
            key={each}
            label={words.field[each]}
            {...(each === 'value' ? { type: 'password' } : {})}
            {...typedInto(given[each])}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            required
          />
        ))}
        <p class="hint">{words.hint}</p>
        <Fault>{fault.value}</Fault>
        <div class="buttons end">
          <Button type="submit" class="primary">
            {words.set}
          </Button>
        </div>
      </form>
    </Dialog>
  );
};

export const Secrets = () => {
  const { client, session, texts, format, clock, announcer, access, secureUrl } = useConsole();
  const words = texts.boxes.secrets;
  const list = useSignal<readonly Secret[]>([]);
  /** Why the list is not the newest; null: it is. */
  const fault = useSignal<string | null>(null);
  const isAdding = useSignal(false);
  const mayAdd = session.isSecured.value && access.may('PUT /console/api/secrets/:name');
  /** The one that is to be deleted. */
  const doomed = useSignal<string | null>(null);
  const load = async (): Promise<void> => {
    try {
      list.value = (await client.json<{ secrets: Secret[] }>(base)).secrets;
      fault.value = null;
    } catch (error) {
      // Not everybody may list them.
      if (!isCode(error, 'role_required')) fault.value = reasonOf(error, texts);
    }
  };
  const remove = async (name: string): Promise<void> => {
    doomed.value = null;
    await client.json(`${base}/${name}`, { method: 'DELETE' }).catch(announcer.report);
    await load();
  };
  useEffect(() => void load(), []);
  return (
    <section class="panel page-secrets stack">
      <div class="row panel-head">
        <h2>{words.title}</h2>
        {mayAdd && isSecureContext && (
          <Button class="small" onClick={() => (isAdding.value = true)}>
            {words.new} …
          </Button>
        )}
        {/* A value that is typed here must not be read on the way. */}
        {mayAdd && !isSecureContext && secureUrl !== null && (
          <a class="button small" href={secureUrl}>
            {texts.insecure.open}
          </a>
        )}
      </div>
      <p class="soft">{words.about}</p>
      {!session.isSecured.value && <p class="hint">{words.needsSecret}</p>}
      <Fault>{fault.value}</Fault>
      {list.value.map(({ name, origins, updated_at }) => (
        <div key={name} class="row panel-head">
          <p>
            <b>{name}</b> {origins.join(', ')} <span class="soft">{format.when(updated_at, clock.now())}</span>
          </p>
          {access.may('DELETE /console/api/secrets/:name') && (
            <Button class="small" onClick={() => (doomed.value = name)}>
              {words.remove} …
            </Button>
          )}
        </div>
      ))}
      {doomed.value !== null && (
        <Confirm
          title={words.removeTitle({ name: doomed.value })}
          submit={words.remove}
          isDanger
          onClose={() => (doomed.value = null)}
          onSubmit={() => void remove(doomed.value ?? '')}
        >
          <p>{words.removeTask}</p>
        </Confirm>
      )}
      {isAdding.value && (
        <NewSecret
          onDone={() => {
            isAdding.value = false;
            void load();
          }}
        />
      )}
    </section>
  );
};
