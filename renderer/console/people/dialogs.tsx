/** Making and changing a person, and showing an invitation. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Invitation, People, Person, PersonRequest } from '../../../service/contract/console/people.ts';
import { type Role, roles } from '../../../service/contract/roles.ts';
import type { Client } from '../api/client.ts';
import { isCode, reasonOf } from '../api/errors.ts';
import { freeId, toggled } from '../model/edit.ts';
import { tagsOf } from '../model/filter.ts';
import { Address } from '../ui/address.tsx';
import { useConsole } from '../ui/context.tsx';
import { Dialog, FormDialog } from '../ui/controls.tsx';
import { Chip, TextField } from '../ui/inputs.tsx';

const path = '/console/api/people';

/** The person as the box has them now; undefined: there is none of this id. @throws what the request throws */
export const fetchPerson = async (client: Pick<Client, 'json'>, id: string): Promise<Person | undefined> =>
  (await client.json<People>(path)).people.find((each) => each.id === id);

type Rights = Pick<Person, 'name' | 'role' | 'tags'>;
const isSame = (one: Rights, other: Rights): boolean => {
  const rightsOf = ({ name, role, tags }: Rights): string => JSON.stringify([name, role, tags.toSorted()]);
  return rightsOf(one) === rightsOf(other);
};

/** @param props.person null: a new one; @param props.taken ids that are there */
export const PersonDialog = (props: {
  person: Person | null;
  taken: readonly string[];
  onClose(): void;
  onDone(person: Person, isNew: boolean): void;
}) => {
  const { client, site, texts, format } = useConsole();
  const words = texts.people;
  const { person } = props;
  /** What is changed, as far as this admin knows. */
  const known = useSignal(person);
  const role = useSignal<Role>(person?.role ?? 'editor');
  const tags = useSignal<readonly string[]>(person?.tags ?? []);
  const fault = useSignal<string | null>(null);
  const isSending = useSignal(false);
  /** What a new person was sent as: where the answer was lost, the box may have them. */
  const sent = useRef<{ name: string; id: string } | null>(null);
  const choices = [...new Set([...tagsOf(site.screens()), ...(person?.tags ?? [])])].toSorted();
  const idFor = (name: string): string => {
    if (sent.current?.name !== name) sent.current = { name, id: freeId(name, props.taken) };
    return sent.current.id;
  };
  const submit = async (form: FormData): Promise<void> => {
    const name = String(form.get('name')).trim();
    if (name === '') {
      fault.value = words.nameMissing;
      return;
    }
    isSending.value = true;
    fault.value = null;
    const id = person?.id ?? idFor(name);
    const body = {
      name,
      role: role.value,
      tags: role.value === 'admin' ? [] : [...tags.value],
    } satisfies PersonRequest;
    try {
      const now = known.value === null ? undefined : await fetchPerson(client, id);
      if (known.value !== null && now !== undefined && !isSame(known.value, now)) {
        known.value = now;
        isSending.value = false;
        fault.value = words.changedMeanwhile({ what: format.list([now.name, words.roles[now.role], ...now.tags]) });
        return;
      }
      // Somebody else may have made one of this name meanwhile.
      const headers = person === null ? { 'If-None-Match': '*' } : {};
      const done = await client
        .json<Person>(`${path}/${id}`, { method: 'PUT', body, headers })
        .catch(async (error: unknown) => {
          if (!isCode(error, 'precondition_failed')) throw error;
          sent.current = null;
          const there = await fetchPerson(client, id);
          if (there === undefined || !isSame(there, body)) throw error;
          return there;
        });
      props.onDone(done, person === null);
    } catch (error) {
      fault.value = isCode(error, 'last_admin') ? words.lastAdmin : reasonOf(error, texts);
      isSending.value = false;
    }
  };
  return (
    <FormDialog
      title={person === null ? words.new : words.changeOf({ name: person.name })}
      submit={person === null ? words.make : words.save}
      noValidate
      isBusy={isSending.value}
      onClose={props.onClose}
      onSubmit={(form) => void submit(form)}
    >
      <TextField label={words.name} fault={fault.value} name="name" maxLength={64} defaultValue={person?.name ?? ''} />
      <fieldset class="field">
        <legend>{words.role}</legend>
        {roles.map((each) => (
          <label key={each} class="check role-choice">
            <input type="radio" name="role" checked={role.value === each} onChange={() => (role.value = each)} />
            <span>
              <strong>{words.roles[each]}</strong> <span class="soft">{words.rights[each]}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {role.value !== 'admin' && choices.length > 0 && (
        <fieldset class="field">
          <legend>{words.tags}</legend>
          <div class="chips">
            {choices.map((tag) => (
              <Chip
                key={tag}
                checked={tags.value.includes(tag)}
                onChange={() => (tags.value = toggled(tags.value, tag))}
              >
                {tag}
              </Chip>
            ))}
          </div>
          <p class="hint">{tags.value.length === 0 ? words.wholeSite : words.tagsHint}</p>
        </fieldset>
      )}
    </FormDialog>
  );
};

/** An invitation, which is told once: as a link, and as a code for a phone. */
export const InvitationDialog = (props: { name: string; invitation: Invitation; onClose(): void }) => {
  const { texts, format, clock } = useConsole();
  const words = texts.people;
  const { url, expires_at } = props.invitation;
  return (
    <Dialog title={words.invitationFor({ name: props.name })} onClose={props.onClose}>
      <div class="stack invitation">
        <p>{words.invitationTask({ time: format.when(expires_at, clock.now()) })}</p>
        <Address url={url} label={words.link} code={words.code} />
        <p class="soft">{words.once}</p>
      </div>
    </Dialog>
  );
};
