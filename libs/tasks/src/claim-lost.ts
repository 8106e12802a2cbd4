/** The claim to the Task was lost: another replica writes it now, or it has ended. Nothing more can be recorded here. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

/** A Task was not made, or not read: what that was to be done on may not be so any more. Nothing was recorded. */
export class PremiseFailed extends ClaimLost {}
