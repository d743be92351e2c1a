/** The media of the site: see where each is used, upload, delete. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { takeoverSlideId } from '../../../service/contract/console/takeover-levels.ts';
import { reasonOf } from '../api/errors.ts';
import { toggled } from '../model/edit.ts';
import { matches } from '../model/filter.ts';
import { slideNames, slidesByTag } from '../model/playable.ts';
import { isActive, type Upload, type Uploads } from '../stores/uploads.ts';
import { useConsole } from '../ui/context.tsx';
import { Button, Confirm, Empty, SearchField } from '../ui/controls.tsx';
import { Check, Select } from '../ui/inputs.tsx';
import { UploadButton } from '../ui/media-field.tsx';
import { useReceive } from '../ui/receive.ts';
import { isUnderWay } from '../ui/rendition.tsx';
import { type Medium, MediumCard } from './card.tsx';

/** Between looks at media that are being converted. */
const POLL_MS = 2_000;
/** Names of deleted files that are told; the rest are counted. */
const MOST_NAMES = 3;
/** Slides that are named where what they show is deleted; the rest are counted. */
const MOST_SLIDES = 10;

const UploadRow = ({ upload, uploads }: { upload: Upload; uploads: Uploads }) => {
  const { texts, format } = useConsole();
  const words = texts.media;
  const { id, file, state, progress, speed, error } = upload;
  const isSending = state === 'reading' || state === 'sending';
  return (
    <li class="row upload">
      <span class="upload-name">{file.name}</span>
      <span class={state === 'failed' ? 'fault' : 'soft'}>
        {state === 'failed' ? reasonOf(error, texts) : words.state[state]}
        {state === 'sending' && ` ${format.bytes(speed)}/s`}
      </span>
      {isSending && <progress max={Math.max(1, file.size)} value={progress} aria-label={file.name} />}
      {(isSending || state === 'waiting') && (
        <Button class="small" onClick={() => uploads.cancel(id)}>
          {texts.cancel}
        </Button>
      )}
      {(state === 'failed' || state === 'cancelled') && (
        <Button class="small" onClick={() => uploads.retry(id)}>
          {texts.retry}
        </Button>
      )}
    </li>
  );
};

/** In the order in which they are offered. */
const orders = {
  newest: (a: Medium, b: Medium) => (a.modified_at < b.modified_at ? 1 : -1),
  name: (a: Medium, b: Medium) => a.filename.localeCompare(b.filename),
  largest: (a: Medium, b: Medium) => b.size - a.size,
} as const;
type Order = keyof typeof orders;

const UploadRows = ({ list, uploads }: { list: readonly Upload[]; uploads: Uploads }) => (
  <ul class="uploads">
    {list.map((upload) => (
      <UploadRow key={upload.id} upload={upload} uploads={uploads} />
    ))}
  </ul>
);

export const MediaPage = () => {
  const { access, client, documents, media, uploads, site, texts, format, announcer } = useConsole();
  const words = texts.media;
  const search = useSignal('');
  const order = useSignal<Order>('newest');
  const isUnusedOnly = useSignal(false);
  /** A tag of screens; empty: all media. */
  const folder = useSignal('');
  const selected = useSignal<readonly string[]>([]);
  /** The names of what is about to be deleted. */
  const deleting = useSignal<readonly string[]>([]);
  const receive = useReceive();
  const sha256 = site.overview.value?.content.sha256;
  useEffect(() => void media.load(), [sha256]);
  const isChanging = media.list.value?.media.some(({ rendition }) => isUnderWay(rendition)) === true;
  useEffect(() => {
    if (!isChanging) return;
    const timer = setInterval(() => void media.load(), POLL_MS);
    return () => clearInterval(timer);
  }, [isChanging]);
  const askToRemove = async (names: readonly string[]): Promise<void> => {
    // Somebody may use it by now.
    await media.load();
    if (media.error.value === null) deleting.value = names;
    else announcer.report(media.error.value);
  };
  const remove = async (names: readonly string[]): Promise<void> => {
    deleting.value = [];
    try {
      for (const filename of names) {
        await client.json(`/api/media/${encodeURIComponent(filename)}`, { method: 'DELETE' });
        selected.value = selected.value.filter((each) => each !== filename);
      }
      announcer.say(words.deleted({ name: format.few(names, MOST_NAMES, texts.wall.more) }));
    } catch (error) {
      announcer.report(error);
    } finally {
      await media.load();
    }
  };

  const list = media.list.value;
  const boxes = site.overview.value?.boxes ?? [];
  const content = documents.current.value?.content;
  const tagged = useMemo(() => (content === undefined ? new Map<string, never>() : slidesByTag(content)), [content]);
  const takeovers = site.overview.value?.takeovers ?? [];
  const slideName = (id: string): string =>
    slideNames(content ?? {}).get(id) ?? takeovers.find((each) => takeoverSlideId(each.id) === id)?.title ?? id;
  const ofTag = tagged.get(folder.value);
  const found = (list?.media ?? [])
    .filter(
      ({ filename, used_by, in_drafts = [] }) =>
        matches(search.value, filename) &&
        !(isUnusedOnly.value && used_by.length + in_drafts.length > 0) &&
        (ofTag === undefined || used_by.some((id) => ofTag.has(id))),
    )
    .toSorted(orders[order.value]);
  const marked = found.filter(({ filename }) => selected.value.includes(filename));
  const [active, ended] = [true, false].map((wanted) =>
    uploads.list.value.filter((upload) => (isActive(upload) || upload.state === 'failed') === wanted),
  ) as [Upload[], Upload[]];
  const deleted = (list?.media ?? []).filter(({ filename }) => deleting.value.includes(filename));
  const slidesOfDeleted = deleted.flatMap(({ used_by }) => used_by).map(slideName);
  // What plays is in every draft.
  const draftsOfDeleted = deleted.flatMap(({ used_by, in_drafts = [] }) => (used_by.length > 0 ? [] : in_drafts));
  const cautions = [
    slidesOfDeleted.length > 0 &&
      words.deleteUsed({ slides: format.few(slidesOfDeleted, MOST_SLIDES, texts.wall.more) }),
    draftsOfDeleted.length > 0 &&
      words.deleteDrafted({ drafts: format.few([...new Set(draftsOfDeleted)], MOST_SLIDES, texts.wall.more) }),
  ].filter((caution) => caution !== false);
  return (
    <>
      <div class="page-head">
        <h1>{words.title}</h1>
        {list !== null && (
          <p class="soft">
            {words.quota({ used: format.bytes(list.used_bytes), limit: format.bytes(list.quota_bytes) })}
          </p>
        )}
        {access.may('PUT /api/media/:filename') && (
          <div class="actions">
            <UploadButton isMany isPrimary onFiles={(files) => void receive(files)} />
          </div>
        )}
      </div>
      {boxes.length > 1 && <p class="soft">{words.ofBox({ name: boxes[0]?.name ?? '' })}</p>}
      {uploads.list.value.length > 0 && (
        <section class="panel">
          <div class="row panel-head">
            <h2>{words.uploads}</h2>
            <Button class="small" onClick={uploads.clear}>
              {words.clear}
            </Button>
          </div>
          <UploadRows list={active} uploads={uploads} />
          {ended.length > 0 && (
            <details open={active.length === 0 && ended.length <= 3}>
              <summary>{words.finished({ count: ended.length })}</summary>
              <UploadRows list={ended} uploads={uploads} />
            </details>
          )}
        </section>
      )}
      <div class="row media-search">
        <SearchField label={texts.mediaField.search} text={search} />
        <Select
          aria-label={words.order}
          value={order.value}
          options={(Object.keys(orders) as Order[]).map((each) => [each, words.orders[each]])}
          onValue={(value) => (order.value = value)}
        />
        {tagged.size > 0 && (
          <Select
            aria-label={words.folder}
            value={folder.value}
            options={[
              ['', words.allFolders],
              ...[...tagged.keys()].map((tag) => [tag, words.folderOf({ tag })] as const),
            ]}
            onValue={(value) => (folder.value = value)}
          />
        )}
        <Check checked={isUnusedOnly.value} onChange={(checked) => (isUnusedOnly.value = checked)}>
          {words.unusedOnly}
        </Check>
        {marked.length > 0 && (
          <Button class="danger" onClick={() => void askToRemove(marked.map(({ filename }) => filename))}>
            {words.deleteMany({ count: marked.length })}
          </Button>
        )}
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
            <MediumCard
              key={medium.filename}
              medium={medium}
              slideName={slideName}
              isSelected={selected.value.includes(medium.filename)}
              onSelect={() => (selected.value = toggled(selected.value, medium.filename))}
              onDelete={() => void askToRemove([medium.filename])}
            />
          ))}
        </ul>
      )}
      {deleting.value.length > 0 && (
        <Confirm
          title={
            deleting.value.length === 1
              ? words.deleteOf({ name: deleting.value[0] ?? '' })
              : words.deleteMany({ count: deleting.value.length })
          }
          submit={texts.editor.remove}
          isDanger
          onClose={() => (deleting.value = [])}
          onSubmit={() => void remove(deleting.value)}
        >
          <p class={cautions.length > 0 ? 'notice warning' : ''}>{cautions.join(' ') || words.deleteUnused}</p>
        </Confirm>
      )}
    </>
  );
};
