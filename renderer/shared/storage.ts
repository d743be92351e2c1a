/** The browser's storage, or the page's memory if the browser denies it. */

/** Like the browser's storages it has its values as own properties, which `Object.keys` lists. */
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

/** In the place of each storage that the browser denies. */
const memory = { localStorage: new PageMemory(), sessionStorage: new PageMemory() };

/** A storage of the browser. Where cookies are blocked its access throws, and the page's memory is returned. */
export const storageOf = (name: keyof typeof memory): Storage => {
  try {
    return window[name];
  } catch {
    return memory[name];
  }
};

export const recall = (key: string): string | null => {
  try {
    return localStorage.getItem(key);
  } catch {
    return memory.localStorage.getItem(key);
  }
};

export const remember = (key: string, value: string): void => {
  memory.localStorage.setItem(key, value);
  try {
    localStorage.setItem(key, value);
  } catch {
    // It is in the page's memory.
  }
};
