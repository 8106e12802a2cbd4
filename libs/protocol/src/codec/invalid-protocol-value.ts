/** A value from the wire that is no A2A 1.0 value. The text names the member at fault and nothing else. */
export class InvalidProtocolValue extends Error {
  override readonly name = 'InvalidProtocolValue';
}
