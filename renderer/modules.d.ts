declare module 'virtual:api-document' {
  /** `resources/openapi.yaml`, as an object. */
  export const apiDocument: unknown;
}

declare module 'rapidoc';

declare module 'hyphen/de-1996' {
  /** A text with soft hyphens in its words. */
  export const hyphenateSync: (text: string) => string;
}
