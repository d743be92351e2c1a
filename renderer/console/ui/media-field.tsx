/** A medium: chosen from those of the site, or an address that is typed. */
import { useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import { kindOfType } from '../../../service/domain/media-types.ts';
import { reasonOf } from '../api/errors.ts';
import { mediumName, mediumUrl } from '../model/document.ts';
import { toggled } from '../model/edit.ts';
import { matches } from '../model/filter.ts';
import type { MediaList } from '../model/wire.ts';
import { useConsole } from './context.tsx';
import { Button, Dialog, IconButton, SearchField } from './controls.tsx';
import { Icon } from './icon.tsx';
import { Miniature } from './miniature.tsx';
import { useReceive } from './receive.ts';
import { isUnderWay, RenditionNote } from './rendition.tsx';
import { useVisible } from './visible.ts';

interface ChoiceProps {
  medium: MediaList['media'][number];
  name: string;
  kind: string;
  url: string;
  size: string;
  /** Whether it is selected; null: one alone is chosen. */
  isSelected: boolean | null;
  onSelect(): void;
  onChoose(url: string): void;
}

/** Its picture is loaded only while it is near the viewport: a site can have thousands. */
const Choice = ({ medium, name, kind, url, size, isSelected, onSelect, onChoose }: ChoiceProps) => {
  const { texts } = useConsole();
  const choice = useRef<HTMLLIElement>(null);
  const isNear = useVisible(choice);
  return (
    <li ref={choice}>
      <button type="button" onClick={() => onChoose(url)}>
        <span class="chooser-picture">
          {isNear && (
            <Miniature
              slide={{ kind, media_url: url, title: name }}
              id={name}
              isPending={isUnderWay(medium.rendition)}
            />
          )}
        </span>
        <span class="chooser-name">{name}</span>
        <span class="soft">{size}</span>
        <RenditionNote rendition={medium.rendition} isBrief />
      </button>
      {isSelected !== null && (
        <label class="medium-mark">
          <input
            type="checkbox"
            aria-label={texts.mediaField.select({ name })}
            checked={isSelected}
            onChange={onSelect}
          />
        </label>
      )}
    </li>
  );
};

/** Chooses among the media of the site, the newest first, or uploads files of this machine. */
export const MediaChooser = ({
  accepts,
  isMany = false,
  onChoose,
  onFiles,
  onClose,
}: {
  accepts: readonly string[];
  /** Several can be chosen at once. */
  isMany?: boolean;
  onChoose(...urls: string[]): void;
  onFiles(files: File[]): void;
  onClose(): void;
}) => {
  const selected = useSignal<readonly string[]>([]);
  const { media, texts, format } = useConsole();
  const words = texts.mediaField;
  const search = useSignal('');
  useEffect(() => void media.load(), []);
  const fitting = media.list.value?.media
    .filter(
      ({ filename, media_type }) =>
        (accepts.length === 0 || accepts.some((type) => media_type.startsWith(type))) &&
        matches(search.value, filename),
    )
    .toSorted((a, b) => (a.modified_at < b.modified_at ? 1 : -1));
  return (
    <Dialog title={words.choose} onClose={onClose} isWide>
      <div class="row chooser-head">
        <SearchField label={words.search} text={search} />
        <UploadButton isMany={isMany} onFiles={onFiles} />
        {selected.value.length > 0 && (
          <Button class="primary" onClick={() => onChoose(...selected.value)}>
            {words.add({ count: selected.value.length })}
          </Button>
        )}
      </div>
      {fitting === undefined ? (
        <p class="chooser-note" role="status">
          {media.error.value === null ? texts.loading : reasonOf(media.error.value, texts)}
        </p>
      ) : fitting.length === 0 ? (
        <p class="chooser-note">{words.none}</p>
      ) : (
        <ul class="chooser">
          {fitting.map((medium) => (
            <Choice
              key={medium.filename}
              medium={medium}
              name={medium.filename}
              kind={kindOfType(medium.media_type)}
              url={mediumUrl(medium.filename)}
              size={format.bytes(medium.size)}
              isSelected={isMany ? selected.value.includes(mediumUrl(medium.filename)) : null}
              onSelect={() => {
                selected.value = toggled(selected.value, mediumUrl(medium.filename));
              }}
              onChoose={onChoose}
            />
          ))}
        </ul>
      )}
    </Dialog>
  );
};

/** Asks for files of this machine. */
export const UploadButton = (props: { isMany?: boolean; isPrimary?: boolean; onFiles(files: File[]): void }) => {
  const { texts } = useConsole();
  return (
    <label class={props.isPrimary ? 'button primary' : 'button'}>
      <Icon name="upload" /> {texts.media.upload}
      <input
        type="file"
        class="unseen"
        multiple={props.isMany ?? false}
        onChange={(event) => {
          props.onFiles([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
        }}
      />
    </label>
  );
};

interface MediaFieldProps {
  /** Of the field in the document. */
  name?: string;
  label: string;
  /** `/media/NAME` or a URL; empty: none. */
  value: string;
  /** Beginnings of the media types to choose from; empty: all. */
  accepts: readonly string[];
  fault?: string | null;
  caution?: string | null;
  isRequired?: boolean;
  onChange(value: string): void;
}

export const MediaField = ({
  name,
  label,
  value,
  accepts,
  fault = null,
  caution = null,
  isRequired = false,
  onChange,
}: MediaFieldProps) => {
  const { media, texts } = useConsole();
  const receive = useReceive();
  const isOpen = useSignal(false);
  /** What was typed while the media are read stays. */
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(
    () => () => {
      // Its document is of the past once the field is gone.
      latest.current = () => undefined;
    },
    [],
  );
  const medium = value.startsWith('/media/')
    ? media.list.value?.media.find(({ filename }) => mediumName(value) === filename)
    : undefined;
  const id = useId();
  return (
    <div class="field" data-field={name}>
      <label for={id}>{label}</label>
      <div class="media-field">
        <input
          id={id}
          value={value}
          placeholder="/media/…"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          required={isRequired}
          aria-invalid={fault !== null}
          aria-describedby={`${id}-note`}
          onInput={(event) => onChange(event.currentTarget.value.trim())}
        />
        {value !== '' && <IconButton icon="close" label={texts.mediaField.clear} onClick={() => onChange('')} />}
        <Button onClick={() => (isOpen.value = true)}>{texts.mediaField.choose}</Button>
      </div>
      <div id={`${id}-note`}>
        <p class="fault">{fault}</p>
        {caution !== null && <p class="caution">{caution}</p>}
        {medium !== undefined && caution === null && <RenditionNote rendition={medium.rendition} isBrief />}
      </div>
      {isOpen.value && (
        <MediaChooser
          accepts={accepts}
          onClose={() => (isOpen.value = false)}
          onFiles={(files) =>
            void receive(files).then(([name]) => {
              if (name === undefined) return;
              isOpen.value = false;
              latest.current(mediumUrl(name));
            })
          }
          onChoose={(url = '') => {
            isOpen.value = false;
            onChange(url);
          }}
        />
      )}
    </div>
  );
};
