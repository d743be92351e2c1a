/** The messages between the console and the preview in its frame. */
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
