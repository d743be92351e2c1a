/** An invalid setting that prevents the start: the message is one line with its name, its value and what is allowed. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
  /** The invalid setting; null for config.json itself. */
  readonly setting: string | null;

  constructor(message: string, setting: string | null = null) {
    super(message);
    this.setting = setting;
  }
}

/** The exit code for a bad configuration: EX_CONFIG of sysexits.h. */
export const EXIT_CONFIG = 78;
