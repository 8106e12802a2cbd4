/** A value from the wire that is not valid in A2A 1.0. The message names the invalid member and nothing else. */
export class InvalidProtocolValue extends Error {
  override readonly name = 'InvalidProtocolValue';
}
