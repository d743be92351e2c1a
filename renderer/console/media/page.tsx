/** The media of the site: see where each is used, upload, delete. */

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { kindOfType } from '../../../service/domain/media-types.ts';
import { reasonOf } from '../api/errors.ts';
import { mediumUrl } from '../model/document.ts';
import { matches } from '../model/filter.ts';
import type { MediaList } from '../model/wire.ts';
import type { Upload, Uploads } from '../stores/uploads.ts';
import { useConsole } from '../ui/context.tsx';
import { Confirm, Empty, IconButton, SearchField } from '../ui/controls.tsx';
import { Icon } from '../ui/icon.tsx';
import { Miniature } from '../ui/miniature.tsx';
import { isUnderWay, RenditionNote } from '../ui/rendition.tsx';
import { useVisible } from '../ui/visible.ts';

type Medium = MediaList['media'][number];

/** Between looks at media that are being converted. */
const POLL_MS = 2_000;

const UploadRow = ({ upload, uploads }: { upload: Upload; uploads: Uploads }) => {
  const { texts, format } = useConsole();
  const words = texts.media;
  const { id, file, state, progress, speed, error } = upload;
  const isActive = state === 'reading' || state === 'sending';
  return (
    <li class="upload">
      <span class="upload-name">{file.name}</span>
      <span class={state === 'failed' ? 'fault' : 'soft'}>
        {state === 'failed' ? reasonOf(error, texts) : words.state[state]}
        {state === 'sending' && ` ${format.bytes(speed)}/s`}
      </span>
      {isActive && <progress max={Math.max(1, file.size)} value={progress} aria-label={file.name} />}
      {(isActive || state === 'waiting') && (
        <button type="button" class="button small" onClick={() => uploads.cancel(id)}>
          {texts.cancel}
        </button>
      )}
      {(state === 'failed' || state === 'cancelled') && (
        <button type="button" class="button small" onClick={() => uploads.retry(id)}>
          {texts.retry}
        </button>
      )}
    </li>
  );
};

const MediumCard = ({ medium, onDelete }: { medium: Medium; onDelete(): void }) => {
  const { texts, format } = useConsole();
  const words = texts.media;
  const { filename, media_type, size, width, height, duration_seconds, codec, rendition, used_by } = medium;
  const url = mediumUrl(filename);
  const card = useRef<HTMLLIElement>(null);
  const isNear = useVisible(card);
  return (
    <li ref={card} class="medium">
      <a class="medium-picture" href={url} target="_blank" rel="noreferrer" aria-label={words.open({ name: filename })}>
        {isNear && (
          <Miniature
            slide={{ kind: kindOfType(media_type), media_url: url, title: filename }}
            id={filename}
            isPending={isUnderWay(rendition)}
          />
        )}
      </a>
      <p class="display-name">{filename}</p>
      <p class="display-slide">
        {[
          format.bytes(size),
          codec?.toUpperCase() ?? null,
          width === null || height === null ? null : `${width} × ${height}`,
          duration_seconds === null ? null : format.length(duration_seconds),
        ]
          .filter(Boolean)
          .join(' · ')}
      </p>
      <RenditionNote rendition={rendition} />
      <div class="medium-foot">
        <span class={used_by.length === 0 ? 'soft' : ''} title={used_by.join(', ')}>
          {words.used({ count: used_by.length })}
        </span>
        <IconButton icon="forget" label={words.deleteOf({ name: filename })} onClick={onDelete} />
      </div>
    </li>
  );
};

export const MediaPage = () => {
  const { client, media, uploads, site, texts, format, announcer } = useConsole();
  const words = texts.media;
  const search = useSignal('');
  const deleting = useSignal<Medium | null>(null);
  useEffect(() => void media.load(), []);
  const isChanging = media.list.value?.media.some(({ rendition }) => isUnderWay(rendition)) === true;
  useEffect(() => {
    if (!isChanging) return;
    const timer = setInterval(() => void media.load(), POLL_MS);
    return () => clearInterval(timer);
  }, [isChanging]);
  const remove = async ({ filename }: Medium): Promise<void> => {
    deleting.value = null;
    try {
      await client.json(`/api/media/${encodeURIComponent(filename)}`, { method: 'DELETE' });
      await media.load();
      announcer.say(words.deleted({ name: filename }));
    } catch (error) {
      announcer.complain(reasonOf(error, texts));
    }
  };

  const list = media.list.value;
  const boxes = site.overview.value?.boxes ?? [];
  const found = list?.media.filter(({ filename }) => matches(search.value, filename)) ?? [];
  return (
    <>
      <div class="page-head">
        <h1>{words.title}</h1>
        {list !== null && (
          <p class="soft">
            {words.quota({ used: format.bytes(list.used_bytes), limit: format.bytes(list.quota_bytes) })}
          </p>
        )}
        <div class="actions">
          <label class="button primary">
            <Icon name="upload" /> {words.upload}
            <input
              type="file"
              class="unseen"
              multiple
              onChange={(event) => {
                uploads.add(event.currentTarget.files ?? []);
                event.currentTarget.value = '';
              }}
            />
          </label>
        </div>
      </div>
      {boxes.length > 1 && <p class="soft">{words.ofBox({ name: boxes[0]?.name ?? '' })}</p>}
      {uploads.list.value.length > 0 && (
        <section class="panel">
          <div class="panel-head">
            <h2>{words.uploads}</h2>
            <button type="button" class="button small" onClick={uploads.clear}>
              {words.clear}
            </button>
          </div>
          <ul class="uploads">
            {uploads.list.value.map((upload) => (
              <UploadRow key={upload.id} upload={upload} uploads={uploads} />
            ))}
          </ul>
        </section>
      )}
      <div class="media-search">
        <SearchField label={texts.mediaField.search} text={search} />
      </div>
      {list === null ? (
        <p class="soft">{media.error.value === null ? texts.loading : reasonOf(media.error.value, texts)}</p>
      ) : found.length === 0 ? (
        <Empty title={words.empty}>
          <p>{words.emptyTask}</p>
        </Empty>
      ) : (
        <ul class="media">
          {found.map((medium) => (
            <MediumCard key={medium.filename} medium={medium} onDelete={() => (deleting.value = medium)} />
          ))}
        </ul>
      )}
      {deleting.value !== null && (
        <Confirm
          title={words.deleteOf({ name: deleting.value.filename })}
          submit={texts.editor.remove}
          isDanger
          onClose={() => (deleting.value = null)}
          onSubmit={() => deleting.value !== null && void remove(deleting.value)}
        >
          <p class={deleting.value.used_by.length > 0 ? 'notice warning' : ''}>
            {deleting.value.used_by.length > 0
              ? words.deleteUsed({ slides: format.list(deleting.value.used_by.slice(0, 10)) })
              : words.deleteUnused}
          </p>
        </Confirm>
      )}
    </>
  );
};
