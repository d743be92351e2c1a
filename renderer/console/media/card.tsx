/** A medium with its picture: what it is, where it is used, and what can be done to it. */
import { type Signal, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { kindOfType } from '../../../service/domain/media-types.ts';
import { mediumUrl } from '../model/document.ts';
import type { MediaList } from '../model/wire.ts';
import type { Access } from '../stores/access.ts';
import { useConsole } from '../ui/context.tsx';
import { IconButton } from '../ui/controls.tsx';
import { typedInto } from '../ui/inputs.tsx';
import { Miniature } from '../ui/miniature.tsx';
import { isUnderWay, RenditionNote } from '../ui/rendition.tsx';
import { useVisible } from '../ui/visible.ts';

/** All boxes follow before the answer. */
const RENAME_MS = 30_000;

export type Medium = MediaList['media'][number];

interface CardProps {
  medium: Medium;
  /** What a slide is called, by its id. */
  slideName(id: string): string;
  isSelected: boolean;
  onSelect(): void;
  onDelete(): void;
}

/** What is used is renamed in what plays, which is a publisher's; of an editor's own media the box knows. */
const mayRenameAt = ({ may }: Access, { used_by }: Medium): boolean =>
  may('POST /console/api/media/:filename/rename') && (used_by.length === 0 || may('PUT /console/api/content'));

/** The name, or the field in which it is changed. */
const MediumName = ({ medium: { filename }, isRenaming }: { medium: Medium; isRenaming: Signal<boolean> }) => {
  const { client, media, texts, announcer } = useConsole();
  const words = texts.media;
  const name = useSignal(filename);
  const isBusy = useSignal(false);
  const field = useRef<HTMLInputElement>(null);
  // Before it is seen: what is typed at once is in it.
  useLayoutEffect(() => {
    if (!isRenaming.value) return;
    name.value = filename;
    field.current?.focus({ preventScroll: true });
    field.current?.scrollIntoView({ block: 'nearest' });
    // The ending stays.
    field.current?.setSelectionRange(0, Math.max(0, filename.lastIndexOf('.')) || filename.length);
  }, [isRenaming.value]);
  const close = (): void => {
    // The focus stays in the card.
    field.current?.closest('li')?.querySelector('a')?.focus();
    isRenaming.value = false;
  };
  const rename = async (): Promise<void> => {
    const to = name.value.trim();
    if (isBusy.value) return;
    if (to === '' || to === filename) return close();
    isBusy.value = true;
    try {
      const path = `/console/api/media/${encodeURIComponent(filename)}/rename`;
      await client.json(path, { method: 'POST', body: { to }, timeout: RENAME_MS });
      close();
      announcer.say(words.renamed({ name: filename, to }));
      await media.load();
    } catch (error) {
      announcer.report(error);
    } finally {
      isBusy.value = false;
    }
  };
  if (!isRenaming.value) return <p class="display-name">{filename}</p>;
  return (
    <form
      class="medium-rename"
      onSubmit={(event) => {
        event.preventDefault();
        void rename();
      }}
    >
      <input
        ref={field}
        aria-label={words.newName({ name: filename })}
        maxLength={255}
        autocomplete="off"
        spellcheck={false}
        enterkeyhint="done"
        {...typedInto(name)}
        onKeyDown={(event) => event.key === 'Escape' && close()}
      />
      <IconButton icon="check" label={words.renameOf({ name: filename })} onClick={() => void rename()} />
      <IconButton icon="close" label={texts.cancel} onClick={close} />
    </form>
  );
};

/** What is used is an admin's to delete; of an editor's own media the box knows. */
const mayDeleteAt = ({ may, me }: Access, { used_by }: Medium): boolean =>
  may('DELETE /api/media/:filename') && (used_by.length === 0 || me.value.role === 'admin');

export const MediumCard = ({ medium, slideName, isSelected, onSelect, onDelete }: CardProps) => {
  const { access, texts, format } = useConsole();
  const words = texts.media;
  const { filename, media_type, size, width, height, duration_seconds, rendition, used_by, in_drafts = [] } = medium;
  const { codec, codec_profile, frame_rate } = medium;
  const url = mediumUrl(filename);
  const mayDelete = mayDeleteAt(access, medium);
  const mayRename = mayRenameAt(access, medium);
  const isRenaming = useSignal(false);
  const card = useRef<HTMLLIElement>(null);
  const isNear = useVisible(card);
  return (
    <li
      ref={card}
      class="medium"
      onKeyDown={(event) => {
        if (event.key !== 'F2' || !mayRename) return;
        event.preventDefault();
        isRenaming.value = true;
      }}
    >
      <a class="medium-picture" href={url} target="_blank" rel="noreferrer" aria-label={words.open({ name: filename })}>
        {isNear && (
          <Miniature
            slide={{ kind: kindOfType(media_type), media_url: url, title: filename }}
            id={filename}
            isPending={isUnderWay(rendition)}
          />
        )}
      </a>
      {mayDelete && (
        <label class="medium-mark">
          <input
            type="checkbox"
            aria-label={texts.mediaField.select({ name: filename })}
            checked={isSelected}
            onChange={onSelect}
          />
        </label>
      )}
      <MediumName medium={medium} isRenaming={isRenaming} />
      <p class="display-slide">
        {[
          format.bytes(size),
          codec === null ? null : [codec.toUpperCase(), codec_profile].filter(Boolean).join(' '),
          width === null || height === null ? null : `${width}\u00a0×\u00a0${height}`,
          frame_rate === null ? null : words.frameRate({ rate: format.number(frame_rate) }),
          duration_seconds === null ? null : format.length(duration_seconds),
        ]
          .filter(Boolean)
          .join(' · ')}
      </p>
      <RenditionNote rendition={rendition} />
      <div class="medium-foot">
        <span class={used_by.length === 0 ? 'soft' : ''} title={format.list(used_by.map(slideName))}>
          {used_by.length === 0 && in_drafts.length > 0
            ? words.drafted({ count: in_drafts.length })
            : words.used({ count: used_by.length })}
        </span>
        <span class="medium-actions">
          {mayRename && (
            <IconButton
              icon="rename"
              label={words.renameOf({ name: filename })}
              onClick={() => (isRenaming.value = true)}
            />
          )}
          {mayDelete && <IconButton icon="forget" label={words.deleteOf({ name: filename })} onClick={onDelete} />}
        </span>
      </div>
    </li>
  );
};
