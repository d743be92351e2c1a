/** A medium: chosen from those of the site, or an address that is typed. */

import { useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import { kindOfType } from '../../../service/domain/media-types.ts';
import { reasonOf } from '../api/errors.ts';
import { mediumUrl } from '../model/document.ts';
import { matches } from '../model/filter.ts';
import type { MediaList } from '../model/wire.ts';
import { useConsole } from './context.tsx';
import { Dialog, IconButton, SearchField } from './controls.tsx';
import { Miniature } from './miniature.tsx';
import { isUnderWay, RenditionNote } from './rendition.tsx';
import { useVisible } from './visible.ts';

interface ChoiceProps {
  medium: MediaList['media'][number];
  name: string;
  kind: string;
  url: string;
  size: string;
  onChoose(url: string): void;
}

/** Its picture is loaded only while it is near the viewport: a site can have thousands. */
const Choice = ({ medium, name, kind, url, size, onChoose }: ChoiceProps) => {
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
    </li>
  );
};

/** Chooses one of the media of the site. */
export const MediaChooser = ({
  accepts,
  onChoose,
  onClose,
}: {
  accepts: readonly string[];
  onChoose(url: string): void;
  onClose(): void;
}) => {
  const { media, texts, format } = useConsole();
  const words = texts.mediaField;
  const search = useSignal('');
  useEffect(() => void media.load(), []);
  const fitting = media.list.value?.media.filter(
    ({ filename, media_type }) =>
      (accepts.length === 0 || accepts.some((type) => media_type.startsWith(type))) && matches(search.value, filename),
  );
  return (
    <Dialog title={words.choose} onClose={onClose} isWide>
      <SearchField label={words.search} text={search} />
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
              onChoose={onChoose}
            />
          ))}
        </ul>
      )}
    </Dialog>
  );
};

interface MediaFieldProps {
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
  label,
  value,
  accepts,
  fault = null,
  caution = null,
  isRequired = false,
  onChange,
}: MediaFieldProps) => {
  const { media, texts } = useConsole();
  const isOpen = useSignal(false);
  const medium = media.list.value?.media.find(({ filename }) => mediumUrl(filename) === value);
  const id = useId();
  return (
    <div class="field">
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
        <button type="button" class="button" onClick={() => (isOpen.value = true)}>
          {texts.mediaField.choose}
        </button>
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
          onChoose={(url) => {
            isOpen.value = false;
            onChange(url);
          }}
        />
      )}
    </div>
  );
};
