/** The drafts of the site: who works on what, and going on with one. */
import { useSignal } from '@preact/signals';
import type { DraftSummary } from '../../../service/contract/console/drafts.ts';
import { useConsole } from '../ui/context.tsx';
import { Button, Confirm, Field, FormDialog, IconButton } from '../ui/controls.tsx';

const Row = ({ draft, onRemove, onSendBack }: { draft: DraftSummary; onRemove(): void; onSendBack(): void }) => {
  const { access, savedDrafts, texts, format, clock, announcer } = useConsole();
  const words = texts.drafts;
  const { id, title, author, updated_by, updated_at, state, note, editing } = draft;
  const mayPublish = access.may('POST /console/api/drafts/:id/publish');
  const { person } = access.me.value;
  const mayRemove = mayPublish || person === null || (author?.id ?? null) === person.id;
  const by = { name: updated_by?.name ?? texts.history.unnamed, time: format.when(updated_at, clock.now()) };
  return (
    <li class="row draft-row">
      <div>
        <p class="display-name">{title || words.untitled}</p>
        <p class="soft">
          {words.by(by)}
          {state === 'submitted' && ` · ${words.submitted}`}
          {editing.length > 0 && ` · ${words.editing({ count: editing.length, names: format.list(editing) })}`}
        </p>
        {note !== null && <p>{note}</p>}
      </div>
      <Button class="small" onClick={() => void savedDrafts().open(id).catch(announcer.report)}>
        {words.open}
      </Button>
      {state === 'submitted' && mayPublish && (
        <Button class="small" onClick={onSendBack}>
          {words.sendBack} …
        </Button>
      )}
      {mayRemove && (
        <IconButton icon="forget" label={words.removeOf({ title: title || words.untitled })} onClick={onRemove} />
      )}
    </li>
  );
};

/** Those that are not open in this tab. */
export const Drafts = () => {
  const { savedDrafts, texts, announcer } = useConsole();
  const words = texts.drafts;
  const removing = useSignal<DraftSummary | null>(null);
  const returning = useSignal<DraftSummary | null>(null);
  const own = savedDrafts().id.value;
  const drafts = savedDrafts().list.value.filter(({ id }) => id !== own);
  const remove = async ({ id }: DraftSummary): Promise<void> => {
    removing.value = null;
    await savedDrafts().remove(id).catch(announcer.report);
  };
  const sendBack = async (form: FormData): Promise<void> => {
    const id = returning.value?.id;
    returning.value = null;
    if (id === undefined) return;
    await savedDrafts()
      .sendBack(id, String(form.get('note')).trim())
      .then(() => announcer.say(words.sentBack))
      .catch(announcer.report);
  };
  if (drafts.length === 0) return null;
  return (
    <details class="panel drafts" open={drafts.length <= 3}>
      <summary>{words.title({ count: drafts.length })}</summary>
      <ul>
        {drafts.map((draft) => (
          <Row
            key={draft.id}
            draft={draft}
            onRemove={() => (removing.value = draft)}
            onSendBack={() => (returning.value = draft)}
          />
        ))}
      </ul>
      {returning.value !== null && (
        <FormDialog
          title={words.sendBack}
          submit={words.sendBack}
          onClose={() => (returning.value = null)}
          onSubmit={(form) => void sendBack(form)}
        >
          <Field label={words.note}>
            {(control) => <textarea {...control} name="note" maxLength={2_000} required />}
          </Field>
        </FormDialog>
      )}
      {removing.value !== null && (
        <Confirm
          title={words.removeOf({ title: removing.value.title || words.untitled })}
          submit={texts.editor.remove}
          isDanger
          onClose={() => (removing.value = null)}
          onSubmit={() => removing.value !== null && void remove(removing.value)}
        >
          <p>{words.removeAbout}</p>
        </Confirm>
      )}
    </details>
  );
};
