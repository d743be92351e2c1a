/** What this tab signs with: the secret, kept until the tab is closed and never sent, or the key of a person. */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Handover } from '../../../service/domain/joining.ts';
import type { PersonKey } from './person-key.ts';

/** What requests are signed with: the secret, or the key of a person. */
export type Credential = string | PersonKey;

/** An invitation to join: the id of a person, and the code. */
export interface Invitation {
  person: string;
  code: string;
}

export type Session = ReturnType<typeof createSession>;

/**
 * Whether a change of signer ends unsaved work and pending requests: operators who share the secret continue each other's
 * work, people with keys do not. @param before, after values of `signer`
 */
export const isOtherPerson = (before: string | null, after: string | null): boolean =>
  before !== null &&
  after !== null &&
  before !== after &&
  ![before, after].every((each) => each.startsWith('operator '));

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

export const createSession = (
  hasSecret: boolean,
  { tab, lasting }: { tab: Storage; lasting: Storage },
  { key = null, invited = null }: { key?: PersonKey | null; invited?: Invitation | Handover | null } = {},
) => {
  const isSecured = signal(hasSecret);
  const credential = signal<Credential | null>(recall(tab, secretKey) ?? key);
  const invitation = signal(invited);
  const removed = signal<string | null>(null);
  let leaving: Credential | null = null;
  const person = signal(key?.name ?? null);
  const wasRefused = signal(false);
  const operator = signal(recall(lasting, operatorKey) ?? '');
  const isAsking = computed(() => isSecured.value && (credential.value === null || invitation.value !== null));

  const signer = computed(() => {
    const { value } = credential;
    if (isAsking.value) return null;
    if (value === null || typeof value === 'string') return `operator ${operator.value}`;
    // Each sign-in makes a key of its own.
    return value.person == null ? `key ${value.keyId}` : `person ${value.person}`;
  });

  const set = (value: Credential | null): void => {
    store(tab, secretKey, typeof value === 'string' ? value : null);
    credential.value = value;
  };

  return {
    /** Null: not given yet, or it was refused. */
    credential: credential as ReadonlySignal<Credential | null>,
    /** The name of the person whose key this browser keeps; null: it keeps none. */
    person: person as ReadonlySignal<string | null>,
    /** How a key comes here, as the address of the page has it; null: it has nothing of the kind, or it was used or declined. */
    invitation: invitation as ReadonlySignal<Invitation | Handover | null>,
    /** Why the key of a person was refused, in the words of the box; null: none was. */
    removed: removed as ReadonlySignal<string | null>,
    /** Whether the console waits for the secret. */
    isAsking,
    /** Whose drafts the browser may keep; null: the console waits for the secret. */
    signer,
    /** Whether a secret that was accepted before is no longer accepted. */
    wasRefused: wasRefused as ReadonlySignal<boolean>,
    /** Whether the box is known to require signatures. */
    isSecured: isSecured as ReadonlySignal<boolean>,
    /** The operator's name for the audit; empty: none. */
    operator: operator as ReadonlySignal<string>,
    signIn: (given: string, name: string): void => {
      operator.value = name;
      store(lasting, operatorKey, name === '' ? null : name);
      wasRefused.value = false;
      removed.value = null;
      set(given);
    },
    signOut: (): void => {
      wasRefused.value = false;
      person.value = null;
      set(null);
    },
    joined: (joinedKey: PersonKey): void => {
      removed.value = null;
      person.value = joinedKey.name;
      set(joinedKey);
      invitation.value = null;
    },
    /** Marks the key that its owner is removing, so that its refusal is not reported; null: the removal failed. */
    leave: (key: PersonKey | null): void => {
      leaving = key;
    },
    isLeaving: (given: Credential | null): boolean => given !== null && given === leaving,
    /** Of somebody who opened an invitation while the page was there. */
    invite: (given: Invitation): void => {
      invitation.value = given;
    },
    /** Leaves the invitation as it is. */
    decline: (): void => {
      invitation.value = null;
    },
    /**
     * Called if the box refuses what was signed with a credential; null: the signature was missing.
     * @param reason in the words of the box
     */
    refuse: (refused: Credential | null, reason: string): void => {
      isSecured.value = true;
      // The answer is about an earlier credential, not the current one.
      if (refused === null || refused !== credential.value || refused === leaving) return;
      if (typeof refused === 'string') wasRefused.value = true;
      else {
        removed.value = reason;
        person.value = null;
        // Over http anybody on the way may say so: the key is kept, until another one takes its place.
        if (location.protocol === 'https:') {
          void import('./person-key.ts').then(({ forgetPersonKey }) => forgetPersonKey(refused.keyId));
        }
      }
      set(null);
    },
    /** Resolves with the credential once there is one; null if the box has no secret. */
    ready: (): Promise<Credential | null> =>
      new Promise((resolve) => {
        let stop: (() => void) | undefined;
        let isDone = false;
        stop = isAsking.subscribe((asking) => {
          if (asking || isDone) return;
          isDone = true;
          stop?.();
          resolve(isSecured.value ? credential.value : null);
        });
        if (isDone) stop();
      }),
  };
};

/** That this tab itself began to take its person to the secure page: a link from elsewhere cannot bring a key here. */
const BEGUN = 'signage.console.handover';
/** How long it takes at most, with a root certificate to install, in ms. */
const LONGEST_MS = 15 * 60_000;

/** Where the browser stores nothing, no key comes back. */
export const beginHandover = (): void => {
  try {
    sessionStorage.setItem(BEGUN, String(Date.now()));
  } catch {
    // The page that comes back says so.
  }
};

/** Whether this tab began it and a key is awaited, which holds for one key. */
export const takeHandover = (): boolean => {
  if (isSecureContext) return false;
  try {
    const at = Number(sessionStorage.getItem(BEGUN) ?? Number.NaN);
    sessionStorage.removeItem(BEGUN);
    return Math.abs(Date.now() - at) < LONGEST_MS;
  } catch {
    return false;
  }
};
