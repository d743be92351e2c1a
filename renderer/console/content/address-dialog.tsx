/** Changes the address of a screen in the draft, and says first what breaks with the old one. */
import { useSignal } from '@preact/signals';
import type { ContentDocument, ScreenDraft } from '../model/document.ts';
import { freeId, withSlug } from '../model/edit.ts';
import { useConsole } from '../ui/context.tsx';
import { FormDialog } from '../ui/controls.tsx';
import { TextField, typedInto } from '../ui/inputs.tsx';

interface AddressProps {
  document: ContentDocument;
  screen: ScreenDraft;
  onClose(): void;
}

const SLUG = /^[a-z0-9-]{1,64}$/;

export const AddressDialog = ({ document, screen, onClose }: AddressProps) => {
  const { draft, texts, site, format } = useConsole();
  const words = texts.screens.address;
  const others = document.screens.flatMap(({ slug }) => (slug === screen.slug ? [] : [slug]));
  const typed = useSignal(freeId(screen.name, others));
  const isTried = useSignal(false);
  const next = typed.value.trim();
  const fault = !SLUG.test(next) ? words.invalid : others.includes(next) ? words.taken : null;

  const { devices = [], connections = [] } = site.screen(screen.slug)?.value ?? {};
  const names = [...new Set([...devices, ...connections].map(({ clientName }) => clientName ?? texts.unnamed))];
  const isFor = ({ targets }: { targets?: readonly string[] | null }): boolean =>
    targets?.includes(screen.slug) === true;
  const takeovers = (site.overview.value?.takeovers ?? []).filter(isFor);
  const followers = (document.programmes ?? []).filter(isFor).length;
  return (
    <FormDialog
      title={words.title({ name: screen.name })}
      submit={words.submit}
      noValidate
      onClose={onClose}
      onSubmit={() => {
        isTried.value = true;
        if (fault !== null) return;
        if (next !== screen.slug) draft().edit(withSlug(document, screen.slug, next));
        onClose();
      }}
    >
      <TextField
        label={words.label}
        hint={`${location.origin}/screen/${next}`}
        fault={isTried.value ? fault : null}
        {...typedInto(typed)}
        autocapitalize="none"
        autocomplete="off"
        spellcheck={false}
        maxLength={64}
      />
      <div class="notice warning">
        <p>{words.breaks}</p>
        <ul class="bullets">
          {names.length > 0 && <li>{words.displays({ names: format.few(names, 5, texts.wall.more) })}</li>}
          <li>{words.bookmarks({ address: `/screen/${screen.slug}` })}</li>
          {takeovers.length > 0 && <li>{words.takeovers({ count: takeovers.length })}</li>}
          <li>{words.others}</li>
        </ul>
      </div>
      {followers > 0 && <p class="hint">{words.follow({ count: followers })}</p>}
    </FormDialog>
  );
};
