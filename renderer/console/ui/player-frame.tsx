/** The real player in a frame, made smaller, with content that is not published. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { PlaylistPayload } from '../../../service/contract/playlist.ts';

/** From the console: what to play, and how. The preview advances like a display. */
export interface PlayMessage {
  type: 'play';
  payload: PlaylistPayload;
  isPaused: boolean;
  isSilent: boolean;
}

/** From the preview: it is ready for the first message, a slide is on, or one can't be shown. */
export type PreviewMessage =
  | { type: 'ready' }
  | { type: 'shown'; slideId: string | null }
  | { type: 'failed'; slideId: string; reason: string };

/** The player has the size of a display. */
const sizes = { landscape: [1280, 720], portrait: [720, 1280], small: [800, 480], strip: [1920, 300] } as const;
export type Shape = keyof typeof sizes;
export const shapes = Object.keys(sizes) as Shape[];

interface PlayerFrameProps {
  payload: PlaylistPayload;
  title: string;
  /** The display that it shows as, or its size in CSS pixels. */
  shape?: Shape | readonly [width: number, height: number];
  /** Whether it loads what the content names on other hosts. Default: true. */
  loadsElsewhere?: boolean;
  /** Set to why the player would skip a slide; null while there is no such reason. */
  fault: Signal<string | null>;
  isPaused?: boolean;
  /** Whether it makes no sound, and takes no focus and no pointer. */
  isOnlySeen?: boolean;
}

/** Pause in typing after which the player follows, ms. */
const REST_MS = 350;

export const PlayerFrame = ({
  payload,
  title,
  shape = 'landscape',
  loadsElsewhere = true,
  fault,
  isPaused = false,
  isOnlySeen = false,
}: PlayerFrameProps) => {
  const frame = useRef<HTMLIFrameElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const isReady = useSignal(false);

  // Before the frame can run: on a busy machine it may be ready before an effect that waits for the next picture.
  useLayoutEffect(() => {
    const hear = ({ source, data }: MessageEvent<PreviewMessage>): void => {
      if (source !== frame.current?.contentWindow) return;
      if (data.type === 'ready') isReady.value = true;
      else fault.value = data.type === 'failed' ? data.reason : null;
    };
    addEventListener('message', hear);
    return () => removeEventListener('message', hear);
  }, []);

  const json = JSON.stringify(payload);
  useEffect(() => {
    if (!isReady.value) return undefined;
    const timer = setTimeout(() => {
      fault.value = null;
      const message: PlayMessage = { type: 'play', payload, isPaused, isSilent: isOnlySeen };
      frame.current?.contentWindow?.postMessage(message, location.origin);
    }, REST_MS);
    return () => clearTimeout(timer);
  }, [json, isPaused, isReady.value]);

  const [width, height] = typeof shape === 'string' ? sizes[shape] : shape;
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const rescale = (): void => {
      // A little too large: at a fraction of a pixel its ground would be seen as a line.
      const scale = Math.min((element.clientWidth + 2) / width, (element.clientHeight + 2) / height);
      frame.current?.style.setProperty('transform', `translate(-50%, -50%) scale(${scale})`);
    };
    const observer = new ResizeObserver(rescale);
    observer.observe(element);
    rescale();
    return () => observer.disconnect();
  }, [width, height]);

  return (
    <div ref={box} class={`preview-box ${typeof shape === 'string' ? shape : 'exact'}`} inert={isOnlySeen}>
      <iframe
        ref={frame}
        src={`/console/preview?elsewhere=${loadsElsewhere ? 'on' : 'off'}`}
        title={title}
        width={width}
        height={height}
      />
    </div>
  );
};
