/** Sends the messages of a page within the service's rate limit per socket (200 messages in 10 s). */

interface Dependencies {
  /** Returns false if no socket is open; the message is then kept. */
  send(message: string): boolean;
  /** Monotonic milliseconds. */
  elapsed(): number;
}

/** At most four states in any second. */
const STATE_GAP_MS = 300;
const NOTES_WINDOW_MS = 10_000;
const NOTES_PER_WINDOW = 60;
/** Notes kept while the service is unreachable or the window is full; the oldest are dropped first. */
const MAX_NOTES = 50;

export const createOutbox = ({ send, elapsed }: Dependencies) => {
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
    // Messages that wait for a closed socket are sent when the next one opens.
    if (waits.length > 0) timer = setTimeout(flush, Math.min(...waits) - now);
  };

  return {
    /** Sends the state if it has changed. States that follow too fast are merged into the newest. */
    state: (message: object): void => {
      state = JSON.stringify(message);
      flush();
    },
    /** Queues a message; notes are sent in order. */
    note: (message: object): void => {
      notes.push(JSON.stringify(message));
      notes.splice(0, notes.length - MAX_NOTES);
      flush();
    },
    /** Call when a socket was opened: sends the state again, and the queued notes. */
    open: (): void => {
      sentState = null;
      flush();
    },
  };
};
