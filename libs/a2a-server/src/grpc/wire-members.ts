import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** Fields of a message that may contain JSON, by number, and whether each counts as a member of that JSON. */
export interface JsonPlaces {
  readonly [field: number]: { readonly places: () => JsonPlaces; readonly counts?: true };
}

const VALUE: JsonPlaces = { 5: { places: () => STRUCT }, 6: { places: () => LIST } };
const LIST: JsonPlaces = { 1: { places: () => VALUE, counts: true } };
const ENTRY: JsonPlaces = { 2: { places: () => VALUE } };
/** `google.protobuf.Struct`. */
const STRUCT: JsonPlaces = { 1: { places: () => ENTRY, counts: true } };
const PART: JsonPlaces = { 4: { places: () => VALUE }, 5: { places: () => STRUCT } };
const MESSAGE: JsonPlaces = { 5: { places: () => PART }, 6: { places: () => STRUCT } };

/** JSON in requests of `a2a.proto`. */
export const JSON_IN_SEND: JsonPlaces = { 2: { places: () => MESSAGE }, 4: { places: () => STRUCT } };
export const JSON_IN_CANCEL: JsonPlaces = { 3: { places: () => STRUCT } };

/**
 * Maximum depth of the search; each level of JSON takes three of the wire format. Deeper messages are rejected after
 * decoding.
 */
const DEEPEST = 400;
const BYTES_PER_MEMBER = 2;

/**
 * True if the JSON in an encoded request has more members than `limit`. Checked before decoding, which takes a hundred
 * times as long. The result is unspecified for other bytes.
 */
export function encodesMoreMembers(bytes: Uint8Array, places: JsonPlaces, limit: number): boolean {
  if (bytes.length < limit * BYTES_PER_MEMBER) return false;
  try {
    return new WireMemberCount(limit).isBeyond(new BinaryReader(bytes), bytes.length, places, 0);
  } catch {
    return false;
  }
}

class WireMemberCount {
  private members = 0;

  constructor(private readonly limit: number) {}

  isBeyond(reader: BinaryReader, end: number, places: JsonPlaces, depth: number): boolean {
    while (reader.pos < end) {
      const [field, type] = reader.tag();
      const place = type === WireType.LengthDelimited && depth < DEEPEST ? places[field] : undefined;
      if (place === undefined) {
        reader.skip(type, field);
        continue;
      }
      if (place.counts && (this.members += 1) > this.limit) return true;
      const length = reader.uint32();
      if (this.isBeyond(reader, reader.pos + length, place.places(), depth + 1)) return true;
    }
    return false;
  }
}
