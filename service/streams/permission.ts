import { CodedError } from '../contract/errors.ts';
import { parseSource, type Source } from './source.ts';

/** What is known of a caller that wants a stream. */
interface Caller {
  /** The request is signed. */
  isSigned: boolean;
  /** The request can't come from a web page of others. */
  isDeliberate: boolean;
}

interface Dependencies {
  /** The addresses of the streams that play; another set where they change. */
  named(): ReadonlySet<string>;
  /** Whether there is a secret: without one, a request that can't come from a web page of others may open any source. */
  hasSecret: boolean;
}

const canonical = (address: string): string | null => {
  try {
    return parseSource(address, false).url;
  } catch {
    return null;
  }
};

/** Which sources a caller may have the service connect to: what the content names is open to whoever gets this far. */
export const createPermission = ({ named, hasSecret }: Dependencies) => {
  let addresses: ReadonlySet<string> = new Set();
  let urls: ReadonlySet<string | null> = new Set();

  const isNamed = ({ url }: Source): boolean => {
    if (addresses !== named()) {
      addresses = named();
      urls = new Set([...addresses].map(canonical));
    }
    return urls.has(url);
  };

  /** @throws CodedError `source_not_allowed`, `origin_refused` */
  return (source: Source, { isSigned, isDeliberate }: Caller): void => {
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
