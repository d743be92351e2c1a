/** The real player in a frame, with what is not published yet. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { PlaylistPayload } from '../../../service/contract/playlist.ts';
import type { ContentDocument, PlaylistDraft } from '../model/document.ts';
import type { PlayMessage, PreviewMessage } from '../preview/message.ts';
import { useConsole } from '../ui/context.tsx';
import { type LiveData, previewPayload } from './payload.ts';

interface PreviewProps {
  document: ContentDocument;
  playlist: PlaylistDraft;
  /** The one slide to show; null: all, as they play. */
  only: number | null;
}

/** The player has the size of a display, and is made smaller. */
const sizes = { landscape: [1280, 720], portrait: [720, 1280] } as const;
/** Pause in typing after which the player follows the draft, ms. */
const REST_MS = 350;

export const Preview = ({ document, playlist, only }: PreviewProps) => {
  const { client, site, texts } = useConsole();
  const words = texts.preview;
  const frame = useRef<HTMLIFrameElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const isReady = useSignal(false);
  const isPortrait = useSignal(false);
  const isWhole = useSignal(false);
  const live = useSignal<LiveData>({ rssFeeds: [], apiSources: [] });
  const fault = useSignal<string | null>(null);
  const slug = site.slugs.value[0];

  useEffect(() => {
    if (slug === undefined) return;
    client
      .json<PlaylistPayload>(`/api/screens/${encodeURIComponent(slug)}/playlist`)
      .then(({ rssFeeds, apiSources }) => {
        live.value = { rssFeeds, apiSources };
      })
      // Feeds are empty in the preview then.
      .catch(() => {});
  }, [slug]);

  useEffect(() => {
    const hear = ({ source, data }: MessageEvent<PreviewMessage>): void => {
      if (source !== frame.current?.contentWindow) return;
      if (data.type === 'ready') isReady.value = true;
      else fault.value = data.type === 'failed' ? data.reason : null;
    };
    addEventListener('message', hear);
    return () => removeEventListener('message', hear);
  }, []);

  const payload = previewPayload(document, playlist, isWhole.value ? null : only, live.value);
  const json = JSON.stringify(payload);
  useEffect(() => {
    if (!isReady.value) return undefined;
    const timer = setTimeout(() => {
      fault.value = null;
      const message: PlayMessage = { type: 'play', payload };
      frame.current?.contentWindow?.postMessage(message, location.origin);
    }, REST_MS);
    return () => clearTimeout(timer);
  }, [json, isReady.value]);

  const [width, height] = sizes[isPortrait.value ? 'portrait' : 'landscape'];
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const rescale = (): void => {
      const scale = Math.min(element.clientWidth / width, element.clientHeight / height);
      frame.current?.style.setProperty('transform', `translate(-50%, -50%) scale(${scale})`);
    };
    const observer = new ResizeObserver(rescale);
    observer.observe(element);
    rescale();
    return () => observer.disconnect();
  }, [width, height]);

  return (
    <section class="preview" aria-label={words.title}>
      <div class="preview-tools">
        <fieldset class="chips">
          <legend class="unseen">{words.shape}</legend>
          {[false, true].map((portrait) => (
            <label key={String(portrait)} class="chip">
              <input
                type="radio"
                name="shape"
                checked={isPortrait.value === portrait}
                onChange={() => (isPortrait.value = portrait)}
              />
              <span>{portrait ? words.portrait : words.landscape}</span>
            </label>
          ))}
        </fieldset>
        <label class="check">
          <input
            type="checkbox"
            checked={isWhole.value}
            onChange={(event) => (isWhole.value = event.currentTarget.checked)}
          />
          <span>{words.whole}</span>
        </label>
      </div>
      <div ref={box} class={isPortrait.value ? 'preview-box portrait' : 'preview-box'}>
        <iframe ref={frame} src="/console/preview" title={words.title} width={width} height={height} />
      </div>
      <p class="caution" role="status">
        {fault.value !== null && words.fault(fault.value)}
      </p>
    </section>
  );
};
