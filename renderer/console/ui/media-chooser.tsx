import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { reasonOf } from '../texts/reason.ts';
import { useConsole } from './context.tsx';
import { Dialog } from './dialog.tsx';
import { Miniature } from './miniature.tsx';

const kindOf = (type: string): string =>
  type.startsWith('video/') ? 'video' : type === 'application/pdf' ? 'pdf' : 'image';

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
