interface SettleOptions {
  /** How long nothing may change before `act` is called, in ms. */
  quietMs: number;
  /** How long changes may delay the call, in ms. */
  longestMs: number;
}

export interface Settle {
  /** Reports a change. */
  (): void;
  /** Drops a pending call. */
  cancel(): void;
}

/** Calls `act` once changes have settled, and every `longestMs` while they do not. */
export const createSettle = (act: () => void, { quietMs, longestMs }: SettleOptions): Settle => {
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
    );
  };
  return Object.assign(change, { cancel: () => clearTimeout(timer) });
};
