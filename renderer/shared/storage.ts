/** The browser's storage, or the page's memory if the browser denies it. */

/** As of the browser's, its own properties are what it keeps. */
class PageMemory implements Storage {
  [name: string]: unknown;
  get length(): number {
    return Object.keys(this).length;
  }
  key(index: number): string | null {
    return Object.keys(this)[index] ?? null;
  }
  getItem(name: string): string | null {
    return Object.hasOwn(this, name) ? String(this[name]) : null;
  }
  setItem(name: string, value: string): void {
    this[name] = value;
  }
  removeItem(name: string): void {
    delete this[name];
  }
  clear(): void {
    for (const name of Object.keys(this)) delete this[name];
  }
}

/** A storage that can be asked for whatever the person has set: where they block cookies, the browser throws. */
export const storageOf = (name: 'localStorage' | 'sessionStorage'): Storage => {
  try {
    return window[name];
  } catch {
    return new PageMemory();
  }
};

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
