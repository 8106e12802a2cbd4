#!/usr/bin/env bash
# A number in A2A data is a double (google.protobuf.Value), so a2a-sdk 1.3.0 (Python) gives 3.0 for the 3 that an agent
# sent. The evaluator of cel-python 0.5.0 has no overload for a double and an int: "data.count == 3" is an error there,
# while "data.count > 2" works. CEL compares the two by their values. A condition that was tried with plain JSON
# thus fails with the answer of an agent.
# Exits with 1 if the packages behave differently. Needs Python 3.10 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check a2a-sdk==1.3.0 cel-python==0.5.0
cat > try.py <<'END'
import json
import sys
from importlib.metadata import version

import celpy
from a2a.helpers import get_data_parts, new_data_message
from a2a.types import Message
from google.protobuf.json_format import MessageToJson, Parse

CONDITIONS = ['data.count == 3', '3 == data.count', 'data.count in [3]', 'data.count > 2']


def outcomes(data):
    """Returns the result of each condition for the data, or "error"."""
    environment = celpy.Environment()
    values = {'data': celpy.json_to_cel(data)}
    results = []
    for condition in CONDITIONS:
        try:
            results.append(str(environment.program(environment.compile(condition)).evaluate(values)).lower())
        except celpy.CELEvalError:
            results.append('error')
    return results


sent = {'count': 3}
message = Parse(MessageToJson(new_data_message(sent)), Message())
[received] = get_data_parts(message.parts)
direct, through = outcomes(sent), outcomes(received)
print(f'a2a-sdk {version("a2a-sdk")}, cel-python {version("cel-python")}')
print(f'expected: each condition is true for {json.dumps(sent)}, also after A2A')
for condition, before, after in zip(CONDITIONS, direct, through):
    print(f'observed: {condition}: {before} for {json.dumps(sent)}, {after} for {json.dumps(received)}')
sys.exit(0 if direct == ['true'] * 4 and through == ['error', 'error', 'error', 'true'] else 1)
END
venv/bin/python try.py 2> errors.txt || { cat errors.txt; exit 1; }
