export interface Emitter<Args extends unknown[]> {
  on(listener: (...args: Args) => void): void;
  /** Calls the listeners in the order in which they were added. */
  emit(...args: Args): void;
}

export const createEmitter = <Args extends unknown[] = []>(): Emitter<Args> => {
  const listeners: ((...args: Args) => void)[] = [];
  return {
    on: (listener) => void listeners.push(listener),
    emit: (...args) => {
      for (const listener of listeners) listener(...args);
    },
  };
};
