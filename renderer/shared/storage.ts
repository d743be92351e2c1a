/** The browser's storage, or the page's memory if the browser denies it. */
const memory = new Map<string, string>();

export const recall = (key: string): string | null => {
  try {
    return localStorage.getItem(key);
  } catch {
    return memory.get(key) ?? null;
  }
};

export const remember = (key: string, value: string): void => {
  memory.set(key, value);
  try {
    localStorage.setItem(key, value);
  } catch {
    // It is in the page's memory.
  }
};
