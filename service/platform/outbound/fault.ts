interface Details {
  /** Further attempts fail too until the operator changes something. Default: false. */
  lasting?: boolean;
  /** The pause that the server demands before the next attempt, ms. */
  pause?: number;
  cause?: unknown;
}

/** A failed fetch. The message is a clause for the operator, without the URL. */
export class FetchFault extends Error {
  override readonly name = 'FetchFault';
  readonly lasting: boolean;
  readonly pause: number;

  constructor(message: string, { lasting = false, pause = 0, cause }: Details = {}) {
    super(message, { cause });
    this.lasting = lasting;
    this.pause = pause;
  }
}
