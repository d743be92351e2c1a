import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { matches } from '../model/search.ts';
import { reasonOf } from '../texts/reason.ts';
import { useConsole } from './context.tsx';
import { Dialog } from './dialog.tsx';
import { Miniature } from './miniature.tsx';
import { SearchField } from './search-field.tsx';
import { useVisible } from './visible.ts';

const kindOf = (type: string): string =>
  type.startsWith('video/') ? 'video' : type === 'application/pdf' ? 'pdf' : 'image';

interface ChoiceProps {
  name: string;
  kind: string;
  url: string;
  size: string;
  onChoose(url: string): void;
}

/** Its picture is loaded only while it is near the viewport: a site can have thousands. */
const Choice = ({ name, kind, url, size, onChoose }: ChoiceProps) => {
  const choice = useRef<HTMLLIElement>(null);
  const isNear = useVisible(choice);
  return (
    <li ref={choice}>
      <button type="button" onClick={() => onChoose(url)}>
        <span class="chooser-picture">
          {isNear && <Miniature slide={{ kind, media_url: url, title: name }} id={name} />}
        </span>
        <span class="chooser-name">{name}</span>
        <span class="soft">{size}</span>
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
          {fitting.map(({ filename, url, media_type, size }) => (
            <Choice
              key={filename}
              name={filename}
              kind={kindOf(media_type)}
              url={url}
              size={format.bytes(size)}
              onChoose={onChoose}
            />
          ))}
        </ul>
      )}
    </Dialog>
  );
};
