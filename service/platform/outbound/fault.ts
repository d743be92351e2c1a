interface Details {
  /** The same is to be expected of further attempts, until somebody does something. Default: false. */
  lasting?: boolean;
  /** So long the server asks to be left alone, ms. */
  pause?: number;
  cause?: unknown;
}

/** Why something could not be fetched. The message is one clause for a person, and has no address in it. */
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
