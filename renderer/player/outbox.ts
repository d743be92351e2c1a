/** What a page sends of itself, no faster than a service takes it from one socket (200 messages in 10 s). */

interface Dependencies {
  /** Answers false where there is no open socket; the message is kept then. */
  send(message: string): boolean;
  /** Milliseconds that never jump. */
  elapsed(): number;
}

export interface Outbox {
  /** Sends the newest state, where it is not what was sent last; what comes too soon after another replaces it. */
  state(message: object): void;
  /** Sends a note, in its turn. */
  note(message: object): void;
  /** A socket was opened, to a service that knows nothing of this page yet. */
  open(): void;
}

/** At most four states in any second. */
const STATE_GAP_MS = 300;
const NOTES_WINDOW_MS = 10_000;
const NOTES_PER_WINDOW = 60;
/** The newest notes are kept for a service that is away, or for the next window. */
const MOST_NOTES = 50;

export const createOutbox = ({ send, elapsed }: Dependencies): Outbox => {
  let state: string | null = null;
  let sentState: string | null = null;
  let stateSentAt = Number.NEGATIVE_INFINITY;
  const notes: string[] = [];
  /** When the notes of the window were sent. */
  let notesSentAt: number[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    const now = elapsed();
    if (state !== null && state !== sentState && now >= stateSentAt + STATE_GAP_MS && send(state)) {
      sentState = state;
      stateSentAt = now;
    }
    notesSentAt = notesSentAt.filter((at) => now - at < NOTES_WINDOW_MS);
    while (notes[0] !== undefined && notesSentAt.length < NOTES_PER_WINDOW && send(notes[0])) {
      notes.shift();
      notesSentAt.push(now);
    }
    const waits = [
      ...(state === sentState ? [] : [stateSentAt + STATE_GAP_MS]),
      ...(notes.length > 0 && notesSentAt[0] !== undefined ? [notesSentAt[0] + NOTES_WINDOW_MS] : []),
    ].filter((at) => at > now);
    // What a closed socket holds up goes with the next one.
    if (waits.length > 0) timer = setTimeout(flush, Math.min(...waits) - now);
  };

  return {
    state: (message) => {
      state = JSON.stringify(message);
      flush();
    },
    note: (message) => {
      notes.push(JSON.stringify(message));
      notes.splice(0, notes.length - MOST_NOTES);
      flush();
    },
    open: () => {
      sentState = null;
      flush();
    },
  };
};
