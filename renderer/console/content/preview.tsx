/** The real player in a frame, with the unpublished draft. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { PlaylistPayload } from '../../../service/contract/playlist.ts';
import { addDays, wallTimeOf } from '../../../service/domain/wall-time.ts';
import type { ContentDocument, PlaylistDraft } from '../model/document.ts';
import { joinLive, type LiveData, previewPayload } from '../model/payload.ts';
import { screensWithData, withParts } from '../model/playable.ts';
import { useConsole } from '../ui/context.tsx';
import { Check, Chip } from '../ui/inputs.tsx';
import { PlayerFrame } from '../ui/player-frame.tsx';

interface PreviewProps {
  document: ContentDocument;
  playlist: PlaylistDraft;
  /** The one slide to show; null: all, as they play. */
  only: number | null;
}

/** What feeds and sources have brought to playlists; nothing if the box does not answer. */
export const useLiveData = (
  document: ContentDocument,
  playlistIds: readonly (string | null | undefined)[],
): LiveData => {
  const { client, clock, documents, designs, timeZone } = useConsole();
  const live = useSignal(joinLive([]));
  const published = documents.current.value?.content;
  const ids = playlistIds.flatMap((id) => withParts(document, id ?? '').map((part) => part.id));
  const slugs = published === undefined ? [] : screensWithData(published, ids);
  useEffect(() => {
    let isWanted = true;
    const load = async (): Promise<void> => {
      const answers = await Promise.allSettled(
        slugs.map((slug) => client.json<PlaylistPayload>(`/api/screens/${encodeURIComponent(slug)}/playlist`)),
      );
      const payloads = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      if (isWanted) live.value = joinLive(payloads);
    };
    void load();
    return () => {
      isWanted = false;
    };
  }, [slugs.join(' ')]);
  useEffect(() => void designs.load(), []);
  const today = wallTimeOf(clock.now(), timeZone).date;
  return { ...live.value, designs: designs.list.value, days: { today, yesterday: addDays(today, -1) } };
};

export const Preview = ({ document, playlist, only }: PreviewProps) => {
  const { texts, draft } = useConsole();
  const words = texts.preview;
  const isPortrait = useSignal(false);
  const isWhole = useSignal(false);
  // An address in what others wrote would tell them that somebody looks at it.
  const loadsElsewhere = useSignal(!draft().isForeign.value);
  const live = useLiveData(document, [playlist.id]);
  const fault = useSignal<string | null>(null);

  const payload = previewPayload(document, playlist, isWhole.value ? null : only, live);
  return (
    <section class="preview" aria-label={words.title}>
      <div class="row preview-tools">
        <fieldset class="chips">
          <legend class="unseen">{words.shape}</legend>
          {[false, true].map((portrait) => (
            <Chip
              key={String(portrait)}
              name="shape"
              checked={isPortrait.value === portrait}
              onChange={() => (isPortrait.value = portrait)}
            >
              {portrait ? words.portrait : words.landscape}
            </Chip>
          ))}
        </fieldset>
        <Check checked={isWhole.value} onChange={(checked) => (isWhole.value = checked)}>
          {words.whole}
        </Check>
        <Check checked={loadsElsewhere.value} onChange={(checked) => (loadsElsewhere.value = checked)}>
          {words.elsewhere}
        </Check>
      </div>
      <PlayerFrame
        key={String(loadsElsewhere.value)}
        payload={payload}
        title={words.title}
        shape={isPortrait.value ? 'portrait' : 'landscape'}
        loadsElsewhere={loadsElsewhere.value}
        fault={fault}
      />
      <p class="caution" role="status">
        {fault.value !== null && words.fault({ reason: fault.value })}
      </p>
    </section>
  );
};
