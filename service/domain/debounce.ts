interface DebounceOptions {
  /** How long nothing may change before `act` is called, in ms. */
  quietMs: number;
  /** How long changes may delay the call, in ms: as `quietMs`, the first of several changes decides when. */
  longestMs: number;
}

export interface Debounce {
  (): void;
  /** Drops a pending call. @returns whether there was one */
  cancel(): boolean;
}

/** Calls `act` once changes have settled, and every `longestMs` while they do not. Its timer keeps no process running. */
export const createDebounce = (act: () => void, { quietMs, longestMs }: DebounceOptions): Debounce => {
  let firstAt: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  const change = (): void => {
    const now = performance.now();
    firstAt ??= now;
    clearTimeout(timer);
    timer = setTimeout(
      () => {
        firstAt = null;
        act();
      },
      Math.max(0, Math.min(quietMs, firstAt + longestMs - now)),
    ).unref();
  };
  const cancel = (): boolean => {
    const isPending = firstAt !== null;
    firstAt = null;
    clearTimeout(timer);
    return isPending;
  };
  return Object.assign(change, { cancel });
};
