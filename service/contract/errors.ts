import type { ContentIssue } from './content-issue.ts';

/** Every error of the API: code, HTTP status, default message. */
export const errorTable = {
  invalid_request: [400, 'The request is malformed.'],
  invalid_json: [400, 'The body is not a JSON object.'],
  missing_field: [400, 'A required field is missing.'],
  invalid_field: [400, 'A field has a value that is not allowed.'],
  invalid_content: [400, 'The content is not valid.'],
  unknown_command: [400, 'There is no such command.'],
  credentials_required: [401, 'This needs credentials.'],
  page_token_invalid: [401, 'The page token is not valid.'],
  page_token_expired: [401, 'The page token has expired; load the page again.'],
  signature_invalid: [401, 'The signature does not match the request.'],
  signature_stale: [401, 'The timestamp is outside the window of 300 s, or older than this service.'],
  signature_replayed: [401, 'This nonce was used before; sign each request afresh.'],
  signature_required: [403, 'A page token is not enough here; sign the request.'],
  origin_refused: [403, 'Requests from other origins are refused.'],
  address_withheld: [403, 'Pages load this address from here alone, and there is no copy yet.'],
  source_not_allowed: [403, 'A page may open only streams that the content names; sign the request for others.'],
  not_found: [404, 'There is nothing at this path.'],
  screen_not_found: [404, 'There is no screen with this slug.'],
  session_not_found: [404, 'There is no stream session with this key.'],
  stream_not_ready: [404, 'The stream has no manifest yet; try again in a moment.'],
  file_not_found: [404, 'There is no file with this name.'],
  version_not_found: [404, 'No version of the content with this sha256 is kept.'],
  takeover_not_found: [404, 'No takeover with this id is on or to come.'],
  connection_not_found: [404, 'No page has a connection with this id.'],
  box_not_found: [404, 'The site has no box with this id.'],
  method_not_allowed: [405, 'The path does not take this method.'],
  request_timeout: [408, 'The request took too long to arrive.'],
  not_supported: [409, 'Nothing would start this box again: it runs under no supervisor.'],
  screenshot_unavailable: [409, 'Only the displays of a kiosk can be photographed, and this page is none.'],
  too_many_takeovers: [409, 'There are 100 takeovers, which is the limit: end one first.'],
  precondition_failed: [412, 'The file is not the one that was asked for.'],
  content_changed: [412, 'The content was changed meanwhile; read it again and repeat your change.'],
  command_expired: [410, 'The command has expired, by the clock of the fleet.'],
  payload_too_large: [413, 'The body is too large.'],
  unsupported_media_type: [415, 'The body must be application/json.'],
  range_not_satisfiable: [416, 'The file has no such range.'],
  expectation_failed: [417, 'The service meets no expectation but 100-continue.'],
  misdirected: [421, 'This request is meant for another box.'],
  host_refused: [421, 'This service does not answer to that host name; add it to SIGNAGE_ALLOWED_HOSTS.'],
  precondition_required: [428, 'Send If-Match with the ETag of what you have read.'],
  too_many_requests: [429, 'Too many failed attempts; wait a minute.'],
  too_many_streams: [429, 'All stream sessions are in use.'],
  headers_too_large: [431, 'The request headers are too large.'],
  internal_error: [500, 'Something went wrong in the service; its log has the details.'],
  ffmpeg_unavailable: [503, 'No ffmpeg was found that runs; install it, or set SIGNAGE_FFMPEG_PATH.'],
  box_away: [503, 'The box does not answer; try again once it is back.'],
  busy: [503, 'The service is too busy; try again in a moment.'],
  storage_unavailable: [
    503,
    'The disk can not be written or read; check its health and that it is not mounted read-only.',
  ],
  screenshot_timeout: [504, 'The display could not be photographed within 2 s.'],
  insufficient_storage: [507, 'The disk is full.'],
} as const satisfies Record<string, readonly [number, string]>;

export type ErrorCode = keyof typeof errorTable;

interface Details {
  /** Name of the invalid field in the request. */
  field?: string;
  /** Everything that is wrong with the content in the request. */
  errors?: readonly ContentIssue[];
  /** Response headers that go with the error, such as Allow or Retry-After. */
  headers?: Record<string, string>;
  cause?: unknown;
}

/** An error that is sent to the client. The HTTP layer turns all other errors into `internal_error`. */
export class CodedError extends Error {
  override readonly name = 'CodedError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly field: string | undefined;
  readonly errors: readonly ContentIssue[] | undefined;
  readonly headers: Record<string, string>;

  constructor(
    code: ErrorCode,
    message: string = errorTable[code][1],
    { field, errors, headers = {}, cause }: Details = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.status = errorTable[code][0];
    this.field = field;
    this.errors = errors;
    // A 401 needs a challenge (RFC 9110, 15.5.2); with this scheme browsers do not ask for a password.
    this.headers = this.status === 401 ? { 'WWW-Authenticate': 'Signage', ...headers } : headers;
  }

  /** The body of the response. */
  toJSON(): { error: { code: ErrorCode; message: string; field?: string; errors?: readonly ContentIssue[] } } {
    const { code, message, field, errors } = this;
    return { error: { code, message, ...(field !== undefined && { field }), ...(errors && { errors }) } };
  }
}
