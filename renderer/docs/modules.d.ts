declare module 'virtual:api-document' {
  /** `resources/openapi.yaml`, as an object. */
  export const apiDocument: unknown;
}

declare module 'rapidoc';
