declare module 'hyphen/de-1996' {
  /** A text with soft hyphens in its words. */
  export const hyphenateSync: (text: string) => string;
}
