/** The people of the site: who they are, what they may do, and the keys that they sign with. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Invitation, People, Person } from '../../../service/contract/console/people.ts';
import type { Trigger } from '../../../service/contract/console/triggers.ts';
import { isCode } from '../api/errors.ts';
import { matches } from '../model/filter.ts';
import { useConsole } from '../ui/context.tsx';
import { Button, Confirm, Empty, Failure, SearchField } from '../ui/controls.tsx';
import { fetchPerson, InvitationDialog, PersonDialog } from './dialogs.tsx';

const path = '/console/api/people';
const AGAIN_MS = 10_000;
/** More people than this get a field to search them by. */
const SEARCHED_FROM = 8;

type Key = Person['keys'][number];

/** An admin who signs with a key that lasts. */
const isLastingAdmin = ({ role, disabled_at, keys }: Person): boolean =>
  role === 'admin' && disabled_at === null && keys.some(({ ends_at }) => ends_at === null);

const KeyRow = ({ entry, isRemovable, onRemove }: { entry: Key; isRemovable: boolean; onRemove(): void }) => {
  const { texts, format, clock } = useConsole();
  const words = texts.people;
  const { device, added_at, invited_by, address, last_used_at, ends_at } = entry;
  const when = (time: string): string => format.when(time, clock.now());
  const facts = [
    invited_by === null
      ? words.added({ time: when(added_at) })
      : words.addedBy({ time: when(added_at), name: invited_by.name }),
    address,
    last_used_at === null ? words.neverUsed : words.used({ time: when(last_used_at) }),
    ends_at === null ? null : words.ends({ time: when(ends_at) }),
  ];
  return (
    <li>
      <div>
        <p class="display-name">{device}</p>
        <p class="soft">{facts.filter(Boolean).join(' · ')}</p>
      </div>
      {isRemovable && (
        <Button class="small" aria-label={words.removeKeyOf({ device })} onClick={onRemove}>
          {words.removeKey}
        </Button>
      )}
    </li>
  );
};

interface CardProps {
  person: Person;
  /** Whether the site would have no admin with a key without this person. */
  isLast: boolean;
  onChange(): void;
  onInvite(): void;
  onDisable(): void;
  onEnable(): void;
  onRemoveKey(key: Key): void;
}

const Card = ({ person, isLast, ...act }: CardProps) => {
  const { access, texts, format, clock } = useConsole();
  const words = texts.people;
  const { id, name, role, tags, keys, disabled_at } = person;
  const isOwn = access.me.value.person?.id === id;
  const mayChange = access.may('PUT /console/api/people/:id');
  const lasting = keys.filter(({ ends_at }) => ends_at === null);
  return (
    <li class="panel person">
      <div class="row panel-head">
        <h2>
          {name} {isOwn && <span class="soft">{words.you}</span>}
        </h2>
        <p class={disabled_at === null ? 'state quiet' : 'state warning'}>
          {disabled_at === null
            ? words.roles[role]
            : words.disabledSince({ time: format.when(disabled_at, clock.now()) })}
        </p>
      </div>
      <p class="soft">
        {words.rights[role]} {tags.length > 0 && words.onlyTags({ tags: format.list([...tags]) })}
      </p>
      {keys.length === 0 ? (
        <p class="soft">{words.noKey}</p>
      ) : (
        <ul class="key-list">
          {keys.map((key) => (
            <KeyRow
              key={key.id}
              entry={key}
              isRemovable={(isOwn || mayChange) && !(isLast && lasting.length === 1 && lasting[0] === key)}
              onRemove={() => act.onRemoveKey(key)}
            />
          ))}
        </ul>
      )}
      {isLast && <p class="hint">{words.lastAdmin}</p>}
      {mayChange && (
        <div class="buttons">
          {disabled_at === null ? (
            <>
              <Button class="small" onClick={act.onInvite}>
                {words.invite} …<span class="unseen"> {name}</span>
              </Button>
              <Button class="small" onClick={act.onChange}>
                {words.change} …<span class="unseen"> {name}</span>
              </Button>
              {!isLast && (
                <Button class="small danger" onClick={act.onDisable}>
                  {words.disable} …<span class="unseen"> {name}</span>
                </Button>
              )}
            </>
          ) : (
            <Button class="small" onClick={act.onEnable}>
              {words.enable}
              <span class="unseen"> {name}</span>
            </Button>
          )}
        </div>
      )}
    </li>
  );
};

type Asking =
  | { what: 'new' }
  | { what: 'change' | 'disable'; person: Person }
  | { what: 'key'; person: Person; key: Key }
  | { what: 'invitation'; name: string; invitation: Invitation }
  | { what: 'insecure'; name: string };

/** Why an invitation is not told here, and what helps. */
const NotHere = ({ onClose }: { onClose(): void }) => {
  const { texts, secureUrl } = useConsole();
  const words = texts.people;
  return (
    <Confirm
      title={words.notHere}
      submit={secureUrl === null ? texts.close : texts.insecure.open}
      onClose={onClose}
      onSubmit={() => {
        if (secureUrl !== null) location.href = `${secureUrl}#people`;
        onClose();
      }}
    >
      <p>{words.notHereTask}</p>
      <p>
        <code>sudo signage people invite NAME</code>
      </p>
    </Confirm>
  );
};

/** What goes on when a person is disabled: the triggers that they made. */
const TriggersOf = ({ person }: { person: Person }) => {
  const { client, texts } = useConsole();
  const words = texts.people;
  const made = useSignal<readonly Trigger[] | null>(null);
  const error = useSignal<unknown>(null);
  const load = (): Promise<void> => {
    error.value = null;
    return client.json<{ triggers: Trigger[] }>('/console/api/triggers').then(
      ({ triggers }) => {
        made.value = triggers.filter(({ created_by }) => created_by?.id === person.id);
      },
      (reason: unknown) => {
        error.value = reason;
      },
    );
  };
  useEffect(() => void load(), [person.id]);
  if (error.value !== null) return <Failure reason={error.value} onRetry={() => void load()} />;
  if (made.value === null || made.value.length === 0) return null;
  return (
    <div class="notice warning">
      <p>{words.triggersStay}</p>
      <ul>
        {made.value.map(({ id, name }) => (
          <li key={id}>{name}</li>
        ))}
      </ul>
      <p>
        <a href="#/takeovers">{words.toTriggers}</a>
      </p>
    </div>
  );
};

export const PeoplePage = () => {
  const { client, access, session, texts, format, announcer } = useConsole();
  const words = texts.people;
  const list = useSignal<People | null>(null);
  const error = useSignal<unknown>(null);
  const search = useSignal('');
  const asking = useSignal<Asking | null>(null);
  const isSecured = session.isSecured.value;
  const load = (): Promise<void> =>
    client.json<People>(path).then(
      (answer) => {
        list.value = answer;
        error.value = null;
      },
      (reason: unknown) => {
        error.value = reason;
      },
    );
  useEffect(() => {
    if (!isSecured) return;
    void load();
    const timer = setInterval(() => {
      if (!document.hidden) void load();
    }, AGAIN_MS);
    return () => clearInterval(timer);
  }, [isSecured]);
  const close = (): void => {
    asking.value = null;
  };
  const attempt = async (act: () => Promise<unknown>, done: string): Promise<void> => {
    close();
    await act().then(() => announcer.say(done), announcer.report);
    await load();
  };
  const invite = async ({ id, name }: Pick<Person, 'id' | 'name'>): Promise<void> => {
    try {
      const invitation = await client.json<Invitation>(`${path}/${id}/invitations`, { method: 'POST' });
      asking.value = { what: 'invitation', name, invitation };
    } catch (reason) {
      if (isCode(reason, 'secure_required')) asking.value = { what: 'insecure', name };
      else announcer.report(reason);
    }
  };
  const enable = (person: Person): Promise<void> =>
    attempt(
      async () => {
        // Their role may have been changed since the list was loaded.
        const { id, name, role, tags } = (await fetchPerson(client, person.id)) ?? person;
        await client.json(`${path}/${id}`, { method: 'PUT', body: { name, role, tags, disabled: false } });
      },
      words.enabled({ name: person.name }),
    );

  if (!isSecured) {
    return (
      <Empty title={words.title}>
        <p>{words.needsSecret}</p>
        <p>
          <code>sudo signage protect</code>
        </p>
      </Empty>
    );
  }
  const people = list.value?.people ?? [];
  const admins = people.filter(isLastingAdmin);
  const found = people
    .filter(({ name, id }) => matches(search.value, `${name} ${id}`))
    .toSorted((a, b) => Number(a.disabled_at !== null) - Number(b.disabled_at !== null));
  const asked = asking.value;
  return (
    <>
      <div class="page-head">
        <h1>{words.title}</h1>
        <p class="soft">{words.about}</p>
        {list.value !== null && access.may('PUT /console/api/people/:id') && (
          <div class="actions">
            <Button class="primary" onClick={() => (asking.value = { what: 'new' })}>
              {words.new} …
            </Button>
          </div>
        )}
      </div>
      {(list.value?.behind ?? []).length > 0 && (
        <p class="notice warning">{words.behind({ boxes: format.list(list.value?.behind ?? []) })}</p>
      )}
      {people.length > SEARCHED_FROM && <SearchField label={words.search} text={search} />}
      {list.value === null ? (
        error.value === null || session.isAsking.value ? (
          <p class="soft">{texts.loading}</p>
        ) : (
          <Failure reason={error.value} onRetry={() => void load()} />
        )
      ) : people.length === 0 ? (
        <Empty title={words.empty}>
          <p>{words.emptyTask}</p>
        </Empty>
      ) : (
        <ul class="people">
          {found.map((person) => (
            <Card
              key={person.id}
              person={person}
              isLast={admins.length === 1 && admins[0] === person}
              onChange={() => (asking.value = { what: 'change', person })}
              onInvite={() => void invite(person)}
              onDisable={() => (asking.value = { what: 'disable', person })}
              onEnable={() => void enable(person)}
              onRemoveKey={(key) => (asking.value = { what: 'key', person, key })}
            />
          ))}
        </ul>
      )}
      {(asked?.what === 'new' || asked?.what === 'change') && (
        <PersonDialog
          person={asked.what === 'new' ? null : asked.person}
          taken={people.map(({ id }) => id)}
          onClose={close}
          onDone={(person, isNew) => {
            close();
            announcer.say(words.saved({ name: person.name }));
            void load();
            if (isNew) void invite(person);
          }}
        />
      )}
      {asked?.what === 'disable' && (
        <Confirm
          title={words.disableOf({ name: asked.person.name })}
          submit={words.disable}
          isDanger
          onClose={close}
          onSubmit={() =>
            void attempt(
              () => client.json(`${path}/${asked.person.id}`, { method: 'DELETE' }),
              words.disabled({ name: asked.person.name }),
            )
          }
        >
          <p>{words.disableAbout}</p>
          <TriggersOf person={asked.person} />
        </Confirm>
      )}
      {asked?.what === 'key' && (
        <Confirm
          title={words.removeKeyOf({ device: asked.key.device })}
          submit={words.removeKey}
          isDanger
          onClose={close}
          onSubmit={() =>
            void attempt(
              () => client.json(`${path}/${asked.person.id}/keys/${asked.key.id}`, { method: 'DELETE' }),
              words.keyRemoved,
            )
          }
        >
          <p>{words.removeKeyAbout}</p>
        </Confirm>
      )}
      {asked?.what === 'invitation' && (
        <InvitationDialog name={asked.name} invitation={asked.invitation} onClose={close} />
      )}
      {asked?.what === 'insecure' && <NotHere onClose={close} />}
    </>
  );
};
