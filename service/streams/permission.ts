import { CodedError } from '../contract/errors.ts';
import { parseSource, type StreamSource } from './source.ts';

/** Properties of a request for a stream. */
interface Caller {
  /** The request is signed. */
  isSigned: boolean;
  /** The request cannot come from an external web page. */
  isDeliberate: boolean;
}

interface Dependencies {
  /** The stream addresses in the content; returns a new set when they change. */
  named(): ReadonlySet<string>;
  /** Whether a shared secret is set: without one, any request that cannot come from an external page is allowed. */
  hasSecret: boolean;
}

const canonical = (address: string): string | null => {
  try {
    return parseSource(address, false).url;
  } catch {
    return null;
  }
};

/** Decides which sources a caller may open. Sources that the content names are open to every caller. */
export const createPermission = ({ named, hasSecret }: Dependencies) => {
  let addresses: ReadonlySet<string> = new Set();
  let urls: ReadonlySet<string | null> = new Set();

  const isNamed = ({ url }: StreamSource): boolean => {
    if (addresses !== named()) {
      addresses = named();
      urls = new Set([...addresses].map(canonical));
    }
    return urls.has(url);
  };

  /** @throws CodedError `source_not_allowed`, `origin_refused` */
  return (source: StreamSource, { isSigned, isDeliberate }: Caller): void => {
    if (isSigned || isNamed(source)) return;
    if (hasSecret) throw new CodedError('source_not_allowed');
    if (isDeliberate) return;
    const message =
      'The content names no such stream, and this may be a request of another web page; a program that calls itself ' +
      'Mozilla adds a header that begins with x-signage-.';
    throw new CodedError('origin_refused', message);
  };
};
export type Permission = ReturnType<typeof createPermission>;
