/** How a command ends, for scripts. */
export const EXIT = {
  done: 0,
  /** The service refused or cannot be reached, or the run failed. */
  failed: 1,
  /** Something differs or is invalid, or the command was used in a way that it does not know. */
  differs: 2,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The command cannot do what was asked, for a reason that its user can mend; the message says how. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  /** @param members what programs are told beside the message; its `reason` is REFUSED unless named */
  constructor(
    message: string,
    readonly code: ExitCode = EXIT.differs,
    readonly members: object = {},
  ) {
    super(message);
  }
}
