import type { ContentIssue } from './content-terms.ts';

/** Every error of the API: code, HTTP status, default message. */
export const errorTable = {
  invalid_request: [400, 'The request is malformed.'],
  invalid_json: [400, 'The body is not a JSON object.'],
  missing_field: [400, 'A required field is missing.'],
  invalid_field: [400, 'A field has an invalid value.'],
  invalid_content: [400, 'The content is not valid.'],
  backup_damaged: [400, 'The backup is damaged.'],
  unknown_command: [400, 'There is no such command.'],
  credentials_required: [401, 'This request needs credentials.'],
  page_token_invalid: [401, 'The page token is not valid.'],
  page_token_expired: [401, 'The page token has expired; load the page again.'],
  signature_invalid: [401, 'The signature does not match the request.'],
  signature_stale: [401, 'The timestamp is outside the window of 300 s, or older than this service.'],
  signature_replayed: [401, 'This nonce has been used already; sign each request with a new nonce.'],
  key_unknown: [401, 'This key is not known here: it was removed, or its person was disabled.'],
  signature_required: [403, 'These credentials are not sufficient here; sign the request as an operator.'],
  local_required: [
    403,
    'Without a secret this is taken from the box itself alone: run it on the box, such as sudo signage --box http://127.0.0.1:8080.',
  ],
  secure_required: [403, 'This is taken over https, or from the box itself alone.'],
  role_required: [403, 'Your role is not sufficient here.'],
  out_of_scope: [403, 'This concerns screens that are not yours.'],
  person_required: [403, 'This needs the key of a person; join with an invitation.'],
  invitation_invalid: [403, 'The invitation is not valid: it was used, has expired, or a newer one took its place.'],
  claim_required: [403, 'Enter the code that the display shows, or sign the request.'],
  claim_invalid: [403, 'The code is not the one that the display shows; a display shows a new one now and then.'],
  origin_refused: [403, 'Requests from other origins are refused.'],
  address_withheld: [403, 'Pages may load this address only as a local copy, which does not exist yet.'],
  source_not_allowed: [403, 'A page may open only streams that the content names; sign the request for others.'],
  not_found: [404, 'There is nothing at this path.'],
  screen_not_found: [404, 'There is no screen with this slug.'],
  session_not_found: [404, 'There is no stream session with this key.'],
  stream_not_ready: [404, 'The stream has no manifest yet; try again in a moment.'],
  file_not_found: [404, 'There is no file with this name.'],
  slide_not_found: [404, 'The screen has no slide with this id.'],
  version_not_found: [404, 'There is no stored version of the content with this sha256.'],
  takeover_not_found: [404, 'There is no active or upcoming takeover with this id.'],
  trigger_not_found: [404, 'There is no trigger with this token or id.'],
  trust_unavailable: [
    404,
    'This site has no root certificate: it needs a shared secret and SIGNAGE_HTTPS, and a minute after the first start.',
  ],
  secret_not_found: [404, 'There is no secret with this name.'],
  sign_on_unavailable: [404, 'This site has no single sign-on: set SIGNAGE_OIDC_ISSUER, or join with an invitation.'],
  sign_in_not_found: [404, 'There is no sign-in with this id; begin again.'],
  draft_not_found: [404, 'There is no draft with this id; it may have been published or deleted.'],
  person_not_found: [404, 'There is no person with this id.'],
  key_not_found: [404, 'The person has no key with this id.'],
  connection_not_found: [404, 'There is no connection with this id.'],
  box_not_found: [404, 'The site has no box with this id.'],
  method_not_allowed: [405, 'This path does not support this method.'],
  request_timeout: [408, 'The request took too long to arrive.'],
  secret_required: [409, 'People need a secret: protect this site first.'],
  already_protected: [
    409,
    'This box has a secret already. To change it, set the new one as SIGNAGE_SHARED_SECRET_PREVIOUS on every box, then swap the two on every box, then remove the old one.',
  ],
  too_many_secrets: [409, 'The limit of 100 secrets is reached; delete one first.'],
  too_many_people: [409, 'The limit of 1,000 people is reached; disable one first.'],
  too_many_keys: [409, 'The person has too many keys; remove one first.'],
  last_admin: [409, 'This is the last admin with a key; make another one first.'],
  name_taken: [409, 'There is a file with this name already; choose another name, or delete that file first.'],
  not_supported: [409, 'The player cannot restart: it runs without a supervisor.'],
  update_in_trial: [409, 'An update is on trial, and a restart would count against it; try again in 20 minutes.'],
  box_older: [
    409,
    'This box is older than the content that plays: edit it at a box of a newer version, or update this one.',
  ],
  backup_newer: [409, 'A newer version of the player wrote this backup; update the box first.'],
  screenshot_unavailable: [409, 'Screenshots are available only for kiosk displays, while they show a screen.'],
  too_many_takeovers: [409, 'The limit of 100 open takeovers, or of 20 open emergencies, is reached; end one first.'],
  too_many_triggers: [409, 'The limit of 200 triggers is reached; revoke one first.'],
  message_not_found: [409, 'The content has no message with this id.'],
  playlist_not_found: [409, 'The content has no playlist with this id.'],
  target_not_found: [409, 'The content has none of the screens that this is for.'],
  too_many_drafts: [409, 'The limit of 20 drafts is reached; publish or delete one first.'],
  too_many_roots: [409, 'The site keeps as many root certificates as it may; none is added.'],
  clock_unset: [409, 'The clock of this box is not set.'],
  draft_conflict: [409, 'The content was changed since the draft was begun, in fields that the draft changes too.'],
  draft_changed: [412, 'The draft has changed since you read it; fetch it and apply your change again.'],
  precondition_failed: [412, 'The file does not match the precondition of the request.'],
  content_changed: [412, 'The content has changed since you read it; fetch it and apply your change again.'],
  command_expired: [410, 'The command has expired according to the clock of the fleet.'],
  payload_too_large: [413, 'The body is too large.'],
  unsupported_media_type: [415, 'The body must be application/json.'],
  range_not_satisfiable: [416, 'The file has no such range.'],
  expectation_failed: [417, 'The only supported expectation is 100-continue.'],
  misdirected: [421, 'This request is meant for another box.'],
  host_refused: [421, 'This service does not answer to that host name; add it to SIGNAGE_ALLOWED_HOSTS.'],
  precondition_required: [428, 'Send If-Match with the ETag of the version that you have read.'],
  too_many_requests: [429, 'Too many failed attempts; wait a minute.'],
  too_many_streams: [429, 'All stream sessions are in use.'],
  headers_too_large: [431, 'The request headers are too large.'],
  internal_error: [500, 'Something went wrong in the service; its log has the details.'],
  ffmpeg_unavailable: [503, 'No working ffmpeg was found; install it, or set SIGNAGE_FFMPEG_PATH.'],
  media_not_ready: [503, 'The file is being converted so that displays can show it; try again in a moment.'],
  box_away: [503, 'The box does not answer; try again once it is back.'],
  issuer_away: [503, 'The provider of the single sign-on does not answer; who has a key goes on with it.'],
  busy: [503, 'The service is too busy; try again in a moment.'],
  storage_unavailable: [
    503,
    'The disk cannot be read or written; check its health and that it is not mounted read-only.',
  ],
  screenshot_timeout: [504, 'The screenshot was not taken within 2 s.'],
  insufficient_storage: [507, 'The disk is full.'],
} as const satisfies Record<string, readonly [number, string]>;

export type ErrorCode = keyof typeof errorTable;

/** Of `secret_required` where a person asks for what only the secret opens, with status 403. */
export const forSecretAlone = 'This is for boxes and programs that sign with the secret of the site.';

interface Details {
  /** Name of the invalid field in the request. */
  field?: string;
  /** Everything that is wrong with the content in the request. */
  errors?: readonly ContentIssue[];
  /** Paths of the fields that two people changed, such as `playlists[0].slides[3].title`. */
  fields?: readonly string[];
  /** Another status than that of the code: what is missing on a box is a conflict, and what a key lacks is refused. */
  status?: number;
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
  readonly fields: readonly string[] | undefined;
  readonly headers: Record<string, string>;

  constructor(
    code: ErrorCode,
    message: string = errorTable[code][1],
    { field, errors, fields, status = errorTable[code][0], headers = {}, cause }: Details = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.status = status;
    this.field = field;
    this.errors = errors;
    this.fields = fields;
    // A 401 needs a challenge (RFC 9110, 15.5.2); with this scheme browsers do not ask for a password.
    this.headers = this.status === 401 ? { 'WWW-Authenticate': 'Signage', ...headers } : headers;
  }

  /** The body of the response. */
  toJSON(): { error: { code: ErrorCode; message: string } & Pick<Details, 'field' | 'errors' | 'fields'> } {
    const { code, message, field, errors, fields } = this;
    return {
      error: {
        code,
        message,
        ...(field !== undefined && { field }),
        ...(errors && { errors }),
        ...(fields && { fields }),
      },
    };
  }
}

/** @param seconds after which the next attempt may succeed, rounded up @param message default: that of the code */
export const tooManyRequests = (seconds: number, message?: string, cause?: unknown): CodedError =>
  new CodedError('too_many_requests', message, {
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(seconds))) },
    cause,
  });
