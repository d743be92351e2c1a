/** The structured clone of what pages and the app send each other, in the encoding of the pages' scripts. */
import { cloneSource } from './page-side.ts';

type Encoded = readonly unknown[];

const { encode, decode } = new Function(`${cloneSource}; return { encode, decode };`)() as {
  encode(value: unknown): Encoded;
  decode(encoded: Encoded): unknown;
};

export { decode, encode };
