/** The browser's lasting storage, or the page's memory where the browser refuses one. */
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
    // The page's memory has it.
  }
};
