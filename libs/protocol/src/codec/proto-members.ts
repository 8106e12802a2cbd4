import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/**
 * Fields of a protobuf message that contain lists or JSON, by field number. `encodesMoreMembers` reads only these
 * fields. `counts` is true if each value of the field counts as one member (an entry of an object, or an element of a
 * list). `places` has the fields to read inside a value.
 */
export interface ProtoPlaces {
  readonly [field: number]: { readonly places?: () => ProtoPlaces; readonly counts?: true };
}

const TEXTS = { counts: true } as const;
const VALUE: ProtoPlaces = { 5: { places: () => STRUCT }, 6: { places: () => LIST } };
const LIST: ProtoPlaces = { 1: { places: () => VALUE, counts: true } };
const ENTRY: ProtoPlaces = { 2: { places: () => VALUE } };
/** Fields of `google.protobuf.Struct` in which members are counted. */
const STRUCT: ProtoPlaces = { 1: { places: () => ENTRY, counts: true } };
const PART: ProtoPlaces = { 4: { places: () => VALUE }, 5: { places: () => STRUCT } };
const MESSAGE: ProtoPlaces = {
  5: { places: () => PART, counts: true },
  6: { places: () => STRUCT },
  7: TEXTS,
  8: TEXTS,
};
const STATUS: ProtoPlaces = { 2: { places: () => MESSAGE } };
const ARTIFACT: ProtoPlaces = {
  4: { places: () => PART, counts: true },
  5: { places: () => STRUCT },
  6: TEXTS,
};

/** Fields of SendMessageRequest of `a2a.proto` 1.0 in which members are counted. */
export const MEMBERS_IN_SEND: ProtoPlaces = { 2: { places: () => MESSAGE }, 4: { places: () => STRUCT } };
const LEGACY_PART: ProtoPlaces = { 3: { places: () => ({ 1: { places: () => STRUCT } }) } };
const LEGACY_MESSAGE: ProtoPlaces = {
  5: { places: () => LEGACY_PART, counts: true },
  6: { places: () => STRUCT },
  7: TEXTS,
};
/** Fields of SendMessageRequest of `a2a.proto` 0.3 in which members are counted. */
export const MEMBERS_IN_LEGACY_SEND: ProtoPlaces = {
  1: { places: () => LEGACY_MESSAGE },
  3: { places: () => STRUCT },
};
/** Fields of CancelTaskRequest of `a2a.proto` 1.0 in which members are counted. */
export const MEMBERS_IN_CANCEL: ProtoPlaces = { 3: { places: () => STRUCT } };
/** Fields of Task of `a2a.proto` 1.0 in which members are counted. */
export const MEMBERS_IN_TASK: ProtoPlaces = {
  3: { places: () => STATUS },
  4: { places: () => ARTIFACT, counts: true },
  5: { places: () => MESSAGE, counts: true },
  6: { places: () => STRUCT },
};
/**
 * Fields of StreamResponse of `a2a.proto` 1.0 in which members are counted. They also fit SendMessageResponse, which
 * has the first two fields.
 */
export const MEMBERS_IN_RESPONSE: ProtoPlaces = {
  1: { places: () => MEMBERS_IN_TASK },
  2: { places: () => MESSAGE },
  3: { places: () => ({ 3: { places: () => STATUS }, 4: { places: () => STRUCT } }) },
  4: { places: () => ({ 3: { places: () => ARTIFACT }, 6: { places: () => STRUCT } }) },
};

/**
 * Maximum depth of the search in protobuf messages; each level of JSON takes three levels of messages. Deeper messages
 * are rejected after decoding.
 */
const DEEPEST = 400;
const BYTES_PER_MEMBER = 2;

/**
 * True if the JSON in an encoded message has more members than `limit`. Checked before decoding, which takes a hundred
 * times as long. The result is unspecified for bytes that are not such a message.
 * @param places fields of the message in which members are counted
 */
export function encodesMoreMembers(bytes: Uint8Array, places: ProtoPlaces, limit: number): boolean {
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

  isBeyond(reader: BinaryReader, end: number, places: ProtoPlaces, depth: number): boolean {
    while (reader.pos < end) {
      const [field, type] = reader.tag();
      const place = type === WireType.LengthDelimited && depth < DEEPEST ? places[field] : undefined;
      if (place?.counts && (this.members += 1) > this.limit) return true;
      if (place?.places === undefined) {
        reader.skip(type, field);
        continue;
      }
      const length = reader.uint32();
      if (this.isBeyond(reader, reader.pos + length, place.places(), depth + 1)) return true;
    }
    return false;
  }
}
