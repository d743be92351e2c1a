/** Parses JSON (RFC 8259), with error messages that name the line and column. */

type Json = { ok: true; value: unknown } | { ok: false; message: string };

/** A token; the only capture group is punctuation. */
const TOKEN =
  /(?:([{}[\]:,])|"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\u0000-\u001f]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/uy;
const SPACE = /[ \t\r\n]*/y;

/** The expected token; `first`: directly after an opening bracket, where the closing one is allowed too. */
type Expected = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'end';

/**
 * The expectation after a token; null: the token is not allowed here.
 * @param open stack of open brackets; modified
 */
const next = (expected: Expected, token: string, mark: string | undefined, open: string[]): Expected | null => {
  const closes = mark === '}' || mark === ']';
  if (closes) {
    const isEmpty = expected === (mark === '}' ? 'first key' : 'first value');
    if (!isEmpty && expected !== 'end') return null;
    return open.pop() === (mark === '}' ? '{' : '[') ? 'end' : null;
  }
  if (expected === 'colon') return mark === ':' ? 'value' : null;
  if (expected === 'end') return mark === ',' && open.length > 0 ? (open.at(-1) === '{' ? 'key' : 'value') : null;
  if (expected === 'key' || expected === 'first key') return token.startsWith('"') ? 'colon' : null;
  if (mark === undefined) return 'end';
  if (mark !== '{' && mark !== '[') return null;
  open.push(mark);
  return mark === '{' ? 'first key' : 'first value';
};

interface SyntaxIssue {
  /** Of the first token that is not allowed; the length of the text if it ends too early. */
  offset: number;
  /** Not a token at all. */
  broken: boolean;
}

const findIssue = (source: string): SyntaxIssue => {
  const open: string[] = [];
  let expected: Expected = 'value';
  let at = 0;
  for (;;) {
    SPACE.lastIndex = at;
    SPACE.test(source);
    const start = SPACE.lastIndex;
    TOKEN.lastIndex = start;
    const match = TOKEN.exec(source);
    if (match === null) return { offset: start, broken: true };
    const after = next(expected, match[0], match[1], open);
    if (after === null) return { offset: start, broken: false };
    expected = after;
    at = TOKEN.lastIndex;
  }
};

/** Characters of the line in the message. */
const MAX_EXCERPT = 100;

/** The line around an index, with passwords of URLs masked: /healthz is public. */
const excerpt = (line: string, index: number): string => {
  const shown = line.replaceAll(/\/\/[^/\s"]*@/g, (credentials) => `//${'*'.repeat(credentials.length - 3)}@`);
  const from = Math.max(0, Math.min(index - MAX_EXCERPT / 2, line.length - MAX_EXCERPT));
  return shown.slice(from, from + MAX_EXCERPT).trim();
};

/** Never throws. The message is a clause with the 1-based line and column, and an excerpt of the line. */
export const parseJson = (source: string): Json => {
  try {
    return { ok: true, value: JSON.parse(source) };
  } catch {
    const { offset, broken } = findIssue(source);
    const isEnd = offset === source.length;
    // For a text that ends too early, report the end of the last line that is not blank.
    const at = isEnd ? source.trimEnd().length : offset;
    const before = source.slice(0, at).split('\n');
    const column = (before.at(-1)?.length ?? 0) + 1;
    const lineEnd = source.indexOf('\n', at);
    const line = source.slice(at - column + 1, lineEnd === -1 ? undefined : lineEnd);
    const found = String.fromCodePoint(source.codePointAt(at) ?? 0);
    const what = isEnd
      ? 'it ends before everything is closed'
      : broken && found === '"'
        ? 'a text that is not closed, or has a line break or a bad escape in it,'
        : `unexpected ${JSON.stringify(found)}`;
    return { ok: false, message: `${what} in line ${before.length}, column ${column}: ${excerpt(line, column - 1)}` };
  }
};
