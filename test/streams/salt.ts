/** For sources whose keys nobody guesses. */
export const noSalt = new Uint8Array();
