/**
 * Error after the claim to a Task was lost: another replica writes it now, or it has ended. Nothing more can be
 * recorded here.
 */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

/** Error of a Task that was not created or read because its premise may no longer hold. Nothing was recorded. */
export class PreconditionFailed extends ClaimLost {}
