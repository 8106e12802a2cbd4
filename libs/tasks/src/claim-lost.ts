/** The claim to the Task was lost: another replica writes it now, or it has ended. Nothing more can be recorded here. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

/** A new Task was not made: what it was to be made on may not be so any more. Nothing was recorded. */
export class PremiseFailed extends ClaimLost {}
