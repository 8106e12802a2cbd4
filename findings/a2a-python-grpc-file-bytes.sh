#!/usr/bin/env bash
# a2a-sdk 0.3.26 (Python) puts the base64 text of a file into file_with_bytes of gRPC, and does not decode what it gets there:
# with an SDK that puts the file's bytes there, such as @a2a-js/sdk 0.3.14, the files differ in both directions.
# Exits with 1 if the package behaves differently. Needs Python 3.10 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'a2a-sdk[grpc]==0.3.26'
cat > try.py <<'END'
import base64
import sys
from importlib.metadata import version

from a2a.grpc import a2a_pb2
from a2a.types import FilePart, FileWithBytes, Message, Part, Role
from a2a.utils.proto_utils import FromProto, ToProto

CONTENT = b'three'
file = FileWithBytes(bytes=base64.b64encode(CONTENT).decode(), mime_type='text/plain', name='number.txt')
message = Message(message_id='m', role=Role.user, parts=[Part(root=FilePart(file=file))])
sent = a2a_pb2.Message.FromString(ToProto.message(message).SerializeToString())
on_the_wire = sent.content[0].file.file_with_bytes

sent.content[0].file.file_with_bytes = CONTENT
received = FromProto.message(sent).parts[0].root.file.bytes

encoded = base64.b64encode(CONTENT).decode()
print(f'a2a-sdk {version("a2a-sdk")}')
print(f'expected: file_with_bytes is {CONTENT}, and {CONTENT} in it is read as the base64 text "{encoded}"')
print(f'observed: file_with_bytes is {on_the_wire}, and {CONTENT} in it is read as the base64 text "{received}"')
sys.exit(0 if on_the_wire == encoded.encode() and received == CONTENT.decode() else 1)
END
venv/bin/python try.py
