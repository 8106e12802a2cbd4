/** Exit codes of commands, for scripts. */
export const EXIT = {
  done: 0,
  /** The service refused or did not answer, or the run failed. */
  failed: 1,
  /** A workflow or file differs or is invalid, or the command line is wrong. */
  differs: 2,
  /** The user pressed Ctrl-C. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Error that the user can fix; its message says how. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  /** @param members members of the error that `--json` prints, beside `message`; the default of `reason` is REFUSED */
  constructor(
    message: string,
    readonly code: ExitCode = EXIT.differs,
    readonly members: object = {},
  ) {
    super(message);
  }
}
