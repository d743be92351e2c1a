/** Codes of Chromium's network errors (net/base/net_error_list.h), as far as tests meet them. */
const codes: Readonly<Record<string, number>> = {
  ERR_FAILED: -2,
  ERR_ABORTED: -3,
  ERR_FILE_NOT_FOUND: -6,
  ERR_ACCESS_DENIED: -10,
  ERR_BLOCKED_BY_CLIENT: -20,
  ERR_CONNECTION_RESET: -101,
  ERR_CONNECTION_REFUSED: -102,
  ERR_NAME_NOT_RESOLVED: -105,
  ERR_INTERNET_DISCONNECTED: -106,
  ERR_CERT_COMMON_NAME_INVALID: -200,
  ERR_CERT_AUTHORITY_INVALID: -202,
  ERR_INVALID_URL: -300,
  ERR_UNKNOWN_URL_SCHEME: -302,
  ERR_UNSAFE_PORT: -312,
  ERR_EMPTY_RESPONSE: -324,
};

export interface NetError {
  /** Such as `ERR_FAILED`. */
  description: string;
  code: number;
}

/** @param text as Chromium's protocol has it, such as `net::ERR_FAILED` */
export const netError = (text: string): NetError => {
  const description = text.replace(/^net::/, '');
  return { description, code: codes[description] ?? -2 };
};
