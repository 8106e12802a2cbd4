const BYTES_OF_A_CHARACTER = 2;
const BYTES_OF_A_VALUE = 16;
const BYTES_OF_AN_OBJECT = 64;

/** Estimates the bytes that a value takes in memory: short texts of JSON may have many members. */
export function heldBytes(value: unknown): number {
  if (typeof value === 'string') return BYTES_OF_A_VALUE + value.length * BYTES_OF_A_CHARACTER;
  if (typeof value !== 'object' || value === null) return BYTES_OF_A_VALUE;
  let bytes = BYTES_OF_AN_OBJECT;
  if (Array.isArray(value)) for (const element of value) bytes += heldBytes(element);
  else for (const [name, member] of Object.entries(value)) bytes += heldBytes(name) + heldBytes(member);
  return bytes;
}
