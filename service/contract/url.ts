/**
 * The URL of a text, relative to `base` if it has no scheme; null if it is none. Not `URL.canParse`, which refuses every
 * letter beyond ASCII on Node 20 after some thousand calls, once it is optimized.
 */
export const parseUrl = (text: string, base?: string | URL): URL | null => {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
};

/** Whether user and password can be decoded: a percent sign of theirs is written as `%25`. */
export const hasDecodableUser = ({ username, password }: URL): boolean => {
  try {
    decodeURIComponent(username);
    decodeURIComponent(password);
    return true;
  } catch {
    return false;
  }
};
