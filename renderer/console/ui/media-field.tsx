/** A medium: chosen from those of the site, or an address that is typed. */
import { useSignal } from '@preact/signals';
import { useEffect, useId } from 'preact/hooks';
import { reasonOf } from '../texts/reason.ts';
import { useConsole } from './context.tsx';
import { Dialog } from './dialog.tsx';
import { Icon } from './icon.tsx';
import { Miniature } from './miniature.tsx';

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

const kindOf = (type: string): string =>
  type.startsWith('video/') ? 'video' : type === 'application/pdf' ? 'pdf' : 'image';

const Chooser = ({
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
  const wanted = search.value.trim().toLowerCase();
  const fitting = media.list.value?.media.filter(
    ({ filename, media_type }) =>
      (accepts.length === 0 || accepts.some((type) => media_type.startsWith(type))) &&
      filename.toLowerCase().includes(wanted),
  );
  return (
    <Dialog title={words.choose} onClose={onClose} isWide>
      <input
        type="search"
        aria-label={words.search}
        placeholder={words.search}
        value={search.value}
        onInput={(event) => {
          search.value = event.currentTarget.value;
        }}
      />
      {fitting === undefined ? (
        <p class="chooser-note" role="status">
          {media.error.value === null ? texts.loading : reasonOf(media.error.value, texts)}
        </p>
      ) : fitting.length === 0 ? (
        <p class="chooser-note">{words.none}</p>
      ) : (
        <ul class="chooser">
          {fitting.map(({ filename, url, media_type, size }) => (
            <li key={filename}>
              <button type="button" onClick={() => onChoose(url)}>
                <span class="chooser-picture">
                  <Miniature slide={{ kind: kindOf(media_type), media_url: url, title: filename }} id={filename} />
                </span>
                <span class="chooser-name">{filename}</span>
                <span class="soft">{format.bytes(size)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
};

export const MediaField = ({
  label,
  value,
  accepts,
  fault = null,
  caution = null,
  isRequired = false,
  onChange,
}: MediaFieldProps) => {
  const { texts } = useConsole();
  const isOpen = useSignal(false);
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
        {value !== '' && (
          <button type="button" class="icon-button" aria-label={texts.mediaField.clear} onClick={() => onChange('')}>
            <Icon name="close" />
          </button>
        )}
        <button type="button" class="button" onClick={() => (isOpen.value = true)}>
          {texts.mediaField.choose}
        </button>
      </div>
      <div id={`${id}-note`}>
        <p class="fault">{fault}</p>
        {caution !== null && <p class="caution">{caution}</p>}
      </div>
      {isOpen.value && (
        <Chooser
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
