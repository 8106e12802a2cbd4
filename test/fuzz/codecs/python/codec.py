"""The official codec of A2A in Python, for comparison: codec.py generate COUNT SEED | codec.py read < LINES

generate: prints COUNT random values of each message of a2a.proto, a JSON line each: its type, its bytes in base64, and
its ProtoJSON as a writer may form it (plain, with schema names, with numbers for enums, with null for what is absent).
read: for each line with a type and bytes or JSON, prints the message as ProtoJSON and whether it equals the original
bytes, or the error.

Left out, since the codec of the JavaScript SDK cannot keep them: the key __proto__, fractions of a millisecond, and
the sign of -0.
"""

import base64
import json
import random
import sys

from a2a.types import a2a_pb2 as pb
from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor as Field

TEXTS = ["", "a", "Grüße 茶", "\u0000\u001f\"\\", "💫 \ufeffx\u2028", "__proto__", "null", "x" * 40]
NUMBERS = [0.0, 1.0, -1.5, 0.1, 1e21, 1e-7, 2.0**53, -(2.0**31), 5e-324, 1.7976931348623157e308]
KEYS = ["", "a", "kind", "constructor", "ключ", "fields", "@type"]


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def message(self, descriptor, depth=0):
        if descriptor.full_name == "google.protobuf.Timestamp":
            return self.timestamp(pb.TaskStatus().timestamp)
        value = getattr(pb, descriptor.name)()
        self.fill(value, depth)
        return value

    def fill(self, value, depth):
        chosen = {it.name: self.random.choice(it.fields).name for it in value.DESCRIPTOR.oneofs}
        for field in value.DESCRIPTOR.fields:
            oneof = field.containing_oneof
            real = oneof is not None and len(oneof.fields) > 1
            if (real and chosen[oneof.name] != field.name) or (not real and self.random.random() < 0.25):
                continue
            self.field(value, field, depth)

    def field(self, value, field, depth):
        if field.message_type and field.message_type.GetOptions().map_entry:
            self.map(getattr(value, field.name), field.message_type.fields_by_name["value"], depth)
        elif is_list(field):
            count = self.random.choice([0, 1, 2]) if depth < 4 else 0
            target = getattr(value, field.name)
            for _ in range(count):
                if field.message_type:
                    self.part(target.add(), depth + 1)
                else:
                    target.append(self.scalar(field))
        elif field.message_type:
            if depth < 5:
                target = getattr(value, field.name)
                target.SetInParent()
                self.part(target, depth + 1)
        else:
            setattr(value, field.name, self.scalar(field))

    def map(self, target, field, depth):
        for _ in range(self.random.choice([0, 1, 2]) if depth < 4 else 0):
            key = self.random.choice(KEYS)
            if field.message_type:
                self.part(target[key], depth + 1)
            else:
                target[key] = self.scalar(field)

    def part(self, target, depth):
        name = target.DESCRIPTOR.full_name
        if name == "google.protobuf.Struct":
            for _ in range(self.random.choice([0, 1, 3])):
                self.json(target.fields[self.random.choice(KEYS)], 0)
        elif name == "google.protobuf.Value":
            self.json(target, 0)
        elif name == "google.protobuf.Timestamp":
            self.timestamp(target)
        else:
            self.fill(target, depth)

    def json(self, value, depth):
        kind = self.random.choice("nfsb" if depth > 2 else "nfsbol")
        if kind == "n":
            value.null_value = 0
        elif kind == "f":
            value.number_value = self.random.choice(NUMBERS)
        elif kind == "s":
            value.string_value = self.random.choice(TEXTS)
        elif kind == "b":
            value.bool_value = self.random.random() < 0.5
        elif kind == "o":
            value.struct_value.SetInParent()
            for _ in range(self.random.choice([0, 1, 2])):
                self.json(value.struct_value.fields[self.random.choice(KEYS)], depth + 1)
        else:
            value.list_value.SetInParent()
            for _ in range(self.random.choice([0, 1, 2])):
                self.json(value.list_value.values.add(), depth + 1)

    def timestamp(self, target):
        target.seconds = self.random.choice([0, -62135596800, 253402300799, 1769852400, 1])
        # The SDK of JavaScript has milliseconds, as section 5.6.1 asks for, and no fraction of a second before 1970.
        target.nanos = 0 if target.seconds < 0 else self.random.choice([0, 1000000, 999000000, 120000000])

    def scalar(self, field):
        kind = field.type
        if kind == Field.TYPE_STRING:
            return self.random.choice(TEXTS)
        if kind == Field.TYPE_BYTES:
            return self.random.choice([b"", b"\x00", b"\xfb\xff\xfe", bytes(range(256))])
        if kind == Field.TYPE_BOOL:
            return self.random.random() < 0.5
        if kind == Field.TYPE_ENUM:
            return self.random.choice([it.number for it in field.enum_type.values])
        return self.random.choice([0, 1, 50, -1, 2**31 - 1, -(2**31)])


def is_list(field):
    return getattr(field, "is_repeated", None) or getattr(field, "label", None) == Field.LABEL_REPEATED


def with_nulls(value, plain):
    """ProtoJSON with null for each member that is absent."""
    for field in value.DESCRIPTOR.fields:
        present = plain.get(field.json_name)
        # A Value takes null for its content.
        if present is None and not (field.message_type and field.message_type.name == "Value"):
            plain[field.json_name] = None
        elif field.message_type and field.message_type.file.name == "a2a.proto":
            if field.message_type.GetOptions().map_entry:
                continue
            inner = getattr(value, field.name)
            for one, it in zip(inner, present) if is_list(field) else [(inner, present)]:
                if isinstance(it, dict):
                    with_nulls(one, it)
    return plain


def forms(value):
    plain = json_format.MessageToDict(value)
    return {
        "plain": plain,
        "names": json_format.MessageToDict(value, preserving_proto_field_name=True),
        "numbers": json_format.MessageToDict(value, use_integers_for_enums=True),
        "defaults": json_format.MessageToDict(value, always_print_fields_with_no_presence=True),
        "nulls": with_nulls(value, json_format.MessageToDict(value)),
    }


def generate(count, seed):
    for descriptor in pb.DESCRIPTOR.message_types_by_name.values():
        for index in range(count):
            value = Generator(f"{seed} {descriptor.name} {index}").message(descriptor)
            data = base64.b64encode(value.SerializeToString(deterministic=True)).decode()
            write({"type": descriptor.name, "bytes": data, "forms": forms(value)})


def read():
    for line in sys.stdin:
        sent = json.loads(line)
        value = getattr(pb, sent["type"])()
        try:
            if "bytes" in sent:
                value.ParseFromString(base64.b64decode(sent["bytes"]))
            else:
                json_format.ParseDict(sent["json"], value)
            original = getattr(pb, sent["type"])()
            original.ParseFromString(base64.b64decode(sent["original"]))
            write({"equal": value == original, "json": json_format.MessageToDict(value)})
        except Exception as error:
            write({"error": str(error)})


def write(line):
    print(json.dumps(line))


if sys.argv[1] == "generate":
    generate(int(sys.argv[2]), sys.argv[3])
else:
    read()
