/** Asks what a new slide shows. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Design } from '../../../service/contract/console/designs.ts';
import { designPrefix } from '../../../service/contract/design-prefix.ts';
import { shownBy } from '../../../service/domain/media-types.ts';
import type { ContentDocument } from '../model/document.ts';
import { useConsole } from '../ui/context.tsx';
import { Dialog } from '../ui/controls.tsx';
import { Icon } from '../ui/icon.tsx';
import { MediaChooser } from '../ui/media-field.tsx';
import { kindIcon } from '../ui/miniature.tsx';
import { wordOf } from '../ui/words.ts';
import { slideKinds } from './slide-form.tsx';

const pictures = import.meta.glob<string>('../../../resources/designs/*/preview.webp', {
  eager: true,
  query: '?url',
  import: 'default',
});

const pictureOf = (id: string): string | undefined =>
  pictures[`../../../resources/designs/${id.replace(designPrefix, '')}/preview.webp`];

const DesignChoice = ({ onChoose }: { onChoose(design: Design): void }) => {
  const { designs, texts } = useConsole();
  useEffect(() => void designs.load(), []);
  if (designs.list.value.length === 0) return null;
  return (
    <>
      <h3>{texts.designs.title}</h3>
      <ul class="designs">
        {designs.list.value.map((design) => (
          <li key={design.id}>
            <button type="button" onClick={() => onChoose(design)}>
              <img src={pictureOf(design.id)} alt="" width={320} height={180} loading="lazy" decoding="async" />
              <strong>{wordOf(texts.designs.word, design.name)}</strong>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
};

/** Kinds whose medium is chosen first, and what fits. */
const pictured: Partial<Record<string, readonly string[]>> = shownBy;

interface AddSlideProps {
  document: ContentDocument;
  onAdd(kind: string, ...mediaUrls: string[]): void;
  onDesign(design: Design): void;
  /** Files of this machine are chosen. */
  onFiles(files: File[]): void;
  onClose(): void;
}

/** Asks for the kind of a new slide, and for its medium, if any. */
export const AddSlide = ({ document, onAdd, onDesign, onFiles, onClose }: AddSlideProps) => {
  const { texts } = useConsole();
  const words = texts.editor;
  const choosing = useSignal<string | null>(null);
  const lacks: Partial<Record<string, string>> = {
    ...(document.templates?.length ? {} : { template: words.noTemplates }),
    ...(document.rssFeeds?.length ? {} : { rss: words.noFeeds }),
    ...(document.timetableGroups?.length ? {} : { timetable: words.noGroups }),
    ...(document.calendars?.length ? {} : { calendar: words.noCalendars }),
    ...((document.playlists?.length ?? 0) > 1 ? {} : { playlist: words.noOtherPlaylist }),
  };
  if (choosing.value !== null) {
    const kind = choosing.value;
    return (
      <MediaChooser
        accepts={pictured[kind] ?? []}
        isMany
        onChoose={(...urls) => onAdd(kind, ...urls)}
        onFiles={onFiles}
        onClose={onClose}
      />
    );
  }
  return (
    <Dialog title={words.addTitle} onClose={onClose} isWide>
      <ul class="kinds">
        {slideKinds.map((kind) => (
          <li key={kind}>
            <button
              type="button"
              disabled={lacks[kind] !== undefined}
              onClick={() => {
                if (pictured[kind] === undefined) onAdd(kind);
                else choosing.value = kind;
              }}
            >
              <Icon name={kindIcon(kind)} />
              <strong>{wordOf(words.kind, kind)}</strong>
              <span class="soft">{lacks[kind] ?? wordOf(words.kindAbout, kind)}</span>
            </button>
          </li>
        ))}
      </ul>
      <DesignChoice onChoose={onDesign} />
    </Dialog>
  );
};
