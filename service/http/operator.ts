import type { IncomingMessage } from 'node:http';
import { operatorHeader } from '../contract/headers.ts';

/** UTF-8, as programs write it; else ISO 8859-1, as browsers send it. Node reads all headers as the latter. */
const decode = (value: string): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
};

/** The self-declared name of the operator; null: absent, or not of 1 to 64 characters. */
export const operatorOf = ({ headers }: Pick<IncomingMessage, 'headers'>): string | null => {
  const name = decode(String(headers[operatorHeader] ?? '')).trim();
  return name !== '' && name.length <= 64 && !/\p{Cc}/u.test(name) ? name : null;
};
