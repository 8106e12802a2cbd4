#!/usr/bin/env bash
# langchain-openai 1.7.4 adds up the usage of a stream's chunks. vLLM and SGLang send running totals with each chunk
# if a client asks for them (stream_options.continuous_usage_stats), so 100 input tokens become 500 in five chunks. The
# last chunk, as the client of openai gives it, has the totals. A budget of tokens is used up several times too early.
# Exits with 1 if the packages behave differently. Needs Python 3.10 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check langchain-openai==1.7.4 langchain-core==1.8.3 openai==3.57.0
cat > try.py <<'END'
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from threading import Thread

from langchain_openai import ChatOpenAI
from openai import OpenAI

OPTIONS = {'include_usage': True, 'continuous_usage_stats': True}


def event(number):
    """Returns one of the five events of a stream, with the totals up to it."""
    choice = {'index': 0, 'delta': {'content': 'word '}, 'finish_reason': 'stop' if number == 5 else None}
    usage = {'prompt_tokens': 100, 'completion_tokens': number, 'total_tokens': 100 + number}
    chunk = {'id': 'c', 'object': 'chat.completion.chunk', 'created': 1, 'model': 'model'}
    return f'data: {json.dumps({**chunk, "choices": [choice], "usage": usage})}\n\n'


class Endpoint(BaseHTTPRequestHandler):
    """Endpoint that sends the running totals to clients that ask for them."""

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers['content-length'])))
        is_asked = request.get('stream_options') == OPTIONS
        body = (''.join(event(number) for number in range(1, 6)) + 'data: [DONE]\n\n').encode()
        self.send_response(200 if is_asked else 400)
        self.send_header('content-type', 'text/event-stream')
        self.send_header('content-length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(('127.0.0.1', 0), Endpoint)
Thread(target=server.serve_forever, daemon=True).start()
access = {'base_url': f'http://127.0.0.1:{server.server_port}/v1', 'api_key': 'key'}
messages = [{'role': 'user', 'content': 'hello'}]
*_, last = OpenAI(**access).chat.completions.create(
    model='model', messages=messages, stream=True, stream_options=OPTIONS)
model = ChatOpenAI(model='model', streaming=True, extra_body={'stream_options': OPTIONS}, **access)
usage = model.invoke('hello').usage_metadata
print(f'langchain-openai {version("langchain-openai")}, langchain-core {version("langchain-core")}')
print(f'expected: {last.usage.prompt_tokens} input tokens, {last.usage.completion_tokens} output tokens')
print(f'observed: {usage["input_tokens"]} input tokens, {usage["output_tokens"]} output tokens')
totals = (last.usage.prompt_tokens, last.usage.completion_tokens)
sys.exit(0 if totals == (100, 5) and (usage['input_tokens'], usage['output_tokens']) == (500, 15) else 1)
END
venv/bin/python try.py
