/**
 * The page of a display once more: the real player shows the slide that the display reports, in its size and without sound. It
 * has no connection of its own, so that it is no display, no play and no target of a command.
 */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { PlaylistPayload } from '../../../service/contract/playlist.ts';
import { mirrorPayload } from '../model/payload.ts';
import type { ShownSlide } from '../model/shown.ts';
import type { Connection } from '../model/wire.ts';
import { useConsole } from '../ui/context.tsx';
import { PlayerFrame } from '../ui/player-frame.tsx';
import { Drawing } from '../ui/view.tsx';

interface MirrorProps {
  slug: string;
  connection: Connection;
  /** Drawn where the player can't show it; null: it is not known. */
  slide: ShownSlide | null;
}

const FULL_HD = [1920, 1080] as const;
/** A slide that is not in the payload may be about to begin. */
const AGAIN_MS = 2_000;
/** Feeds, sources and calendars bring something new without an edit. */
const FOLLOW_MS = 10_000;

export const Mirror = ({ slug, connection, slide }: MirrorProps) => {
  const { client, site, texts } = useConsole();
  const payload = useSignal<PlaylistPayload | null>(null);
  const fault = useSignal<string | null>(null);
  const { currentSlide, currentSlideId, viewport, paused, label } = connection;
  const overview = site.overview.value;
  /** What the payload of the screen changes with. */
  const version = JSON.stringify([slug, overview?.content.sha256, overview?.takeovers]);
  const mirrored = payload.value && mirrorPayload(payload.value, currentSlideId, currentSlide);
  const isMissing = mirrored === null;

  useEffect(() => {
    let isCurrent = true;
    const load = async (): Promise<void> => {
      const next = await client
        .json<PlaylistPayload>(`/api/screens/${encodeURIComponent(slug)}/playlist`)
        .catch(() => null);
      if (isCurrent && next !== null && next.revision !== payload.peek()?.revision) payload.value = next;
    };
    void load();
    const timer = setInterval(() => void load(), isMissing ? AGAIN_MS : FOLLOW_MS);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [version, isMissing]);
  useEffect(() => {
    fault.value = null;
  }, [version, currentSlideId]);

  if (mirrored === null || fault.value !== null) return <Drawing slide={slide} title={connection.currentSlideTitle} />;
  return (
    <>
      <PlayerFrame
        payload={mirrored}
        title={texts.picture.ofDisplay({ name: label })}
        shape={viewport?.width && viewport.height ? [viewport.width, viewport.height] : FULL_HD}
        fault={fault}
        isPaused={paused}
        isOnlySeen
      />
      <span class="view-label">{texts.picture.live}</span>
    </>
  );
};
