interface Details {
  /** The same is to be expected of further attempts, until somebody does something. Default: false. */
  lasting?: boolean;
  cause?: unknown;
}

/** Why a medium could not be fetched. The message is one clause for a person, and has no address in it. */
export class FetchFault extends Error {
  override readonly name = 'FetchFault';
  readonly lasting: boolean;

  constructor(message: string, { lasting = false, cause }: Details = {}) {
    super(message, { cause });
    this.lasting = lasting;
  }
}
