/** The errors that an operation can answer with: its own, and those implied by its record. */
import { type ErrorCode, errorTable } from '../../service/contract/errors.ts';
import { type Access, type Operation, ruleOf } from '../../service/contract/operations/index.ts';

const everywhere: readonly ErrorCode[] = [
  'invalid_request',
  'method_not_allowed',
  'request_timeout',
  'expectation_failed',
  'host_refused',
  'misdirected',
  'headers_too_large',
  'internal_error',
  'storage_unavailable',
];

const signatures: readonly ErrorCode[] = [
  ...(['signature_invalid', 'signature_stale', 'signature_replayed', 'key_unknown', 'busy'] as const),
  ...(['role_required', 'out_of_scope', 'person_required'] as const),
];
const tokens: readonly ErrorCode[] = ['page_token_invalid', 'page_token_expired'];
const credentials: readonly ErrorCode[] = ['credentials_required', 'too_many_requests'];

const byAccess: Record<Access, readonly ErrorCode[]> = {
  public: [],
  signed: [...credentials, ...signatures, ...tokens, 'signature_required'],
  'signed or page': [...credentials, ...signatures, ...tokens],
  page: [...credentials, ...signatures, ...tokens],
};

const ofFields: readonly ErrorCode[] = ['missing_field', 'invalid_field'];
/** Of every POST: operations without a body refuse one that is not JSON. */
const ofPost: readonly ErrorCode[] = ['invalid_json', 'payload_too_large', 'unsupported_media_type'];

/** The codes by status, in the order of the table of errors. */
export const errorsOf = (method: string, path: string, operation: Operation): Map<number, ErrorCode[]> => {
  const { query, body, errors = [] } = operation;
  const { access, acts, isConsole } = ruleOf(path, operation);
  const isJson = body?.['application/json'] !== undefined;
  const codes = new Set<ErrorCode>([
    ...everywhere,
    ...byAccess[access],
    ...(method !== 'GET' || acts ? (['origin_refused'] as const) : []),
    ...(isConsole ? (['not_found'] as const) : []),
    ...(query === undefined ? [] : ofFields),
    ...(isJson || (method === 'POST' && body === undefined) ? ofPost : []),
    ...(isJson ? ofFields : []),
    ...errors,
  ]);
  const byStatus = new Map<number, ErrorCode[]>();
  const add = (status: number, code: ErrorCode): void =>
    void byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  for (const code of Object.keys(errorTable) as ErrorCode[]) {
    // With the key of a person it is a refusal, not a conflict.
    if (code === 'secret_required' && access !== 'public') add(403, code);
    if (codes.has(code)) add(errorTable[code][0], code);
  }
  return byStatus;
};
