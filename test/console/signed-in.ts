/** A console without a page: its session, in the memory of the test. */
import { createSession } from '../../renderer/console/api/session.ts';

export const storage = (): Storage => {
  const values = new Map<string, string>();
  return {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  } as Storage;
};

/** @param secret null: the box has none */
export const signedIn = (secret: string | null, operator = '') => {
  const session = createSession(secret !== null, { tab: storage(), lasting: storage() });
  if (secret !== null) session.signIn(secret, operator);
  return session;
};
