/** The secret of this tab. It is kept until the tab is closed, and never sent. */
import { computed, type ReadonlySignal, signal } from '@preact/signals';

export interface Session {
  /** Null: not given yet, or it was refused. */
  readonly secret: ReadonlySignal<string | null>;
  /** Whether the console waits for the secret. */
  readonly isAsking: ReadonlySignal<boolean>;
  /** Whether a secret that was accepted before is no longer accepted. */
  readonly wasRefused: ReadonlySignal<boolean>;
  /** Whether the box is known to require signatures. */
  readonly isSecured: ReadonlySignal<boolean>;
  /** The operator's name for the audit; empty: none. */
  readonly operator: ReadonlySignal<string>;
  signIn(secret: string, operator: string): void;
  signOut(): void;
  /** Called if the box refuses what was signed with `secret`; null: the signature was missing. */
  refuse(secret: string | null): void;
  /** Resolves with the secret once the operator has entered it; null if the box has no secret. */
  ready(): Promise<string | null>;
}

const secretKey = 'signage.console.secret';
const operatorKey = 'signage.console.operator';

/** The browser may refuse to store anything; then the page's memory has it. */
const recall = (storage: Storage, key: string): string | null => {
  try {
    return storage.getItem(key);
  } catch {
    return null;
  }
};
const store = (storage: Storage, key: string, value: string | null): void => {
  try {
    if (value === null) storage.removeItem(key);
    else storage.setItem(key, value);
  } catch {
    // The page's memory has it.
  }
};

export const createSession = (hasSecret: boolean, { tab, lasting }: { tab: Storage; lasting: Storage }): Session => {
  const isSecured = signal(hasSecret);
  const secret = signal(recall(tab, secretKey));
  const wasRefused = signal(false);
  const operator = signal(recall(lasting, operatorKey) ?? '');
  const isAsking = computed(() => isSecured.value && secret.value === null);

  const set = (value: string | null): void => {
    store(tab, secretKey, value);
    secret.value = value;
  };

  return {
    secret,
    isAsking,
    wasRefused,
    isSecured,
    operator,
    signIn: (given, name) => {
      operator.value = name;
      store(lasting, operatorKey, name === '' ? null : name);
      wasRefused.value = false;
      set(given);
    },
    signOut: () => {
      wasRefused.value = false;
      set(null);
    },
    refuse: (refused) => {
      isSecured.value = true;
      // The answer is about an earlier secret, not the current one.
      if (refused === null || refused !== secret.value) return;
      wasRefused.value = true;
      set(null);
    },
    ready: () =>
      new Promise((resolve) => {
        let stop: (() => void) | undefined;
        let isDone = false;
        stop = isAsking.subscribe((asking) => {
          if (asking || isDone) return;
          isDone = true;
          stop?.();
          resolve(isSecured.value ? secret.value : null);
        });
        if (isDone) stop();
      }),
  };
};
