/** Made by the build from the schema of the operator's file. */
declare module 'virtual:content-schema' {
  export const contentSchema: Readonly<Record<string, unknown>>;
}
