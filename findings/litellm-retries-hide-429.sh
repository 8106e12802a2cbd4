#!/usr/bin/env bash
# litellm.completion of LiteLLM 1.108.7 with num_retries=2 ends a limit's 429 in a plain Exception, "tenacity import
# failed", unless tenacity is installed, which litellm does not require. LiteLLM documents that all its errors inherit
# from those of openai. Without num_retries, or from acompletion, the error is a RateLimitError. A caller that
# waits or takes another model after a RateLimitError fails instead, once it asks for retries.
# Exits with 1 if the package behaves differently. Needs Python 3.10 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check litellm==1.108.7
cat > try.py <<'END'
import asyncio
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from threading import Thread

import litellm
import openai

BODY = b'{"error":{"message":"too many requests"}}'


class Limited(BaseHTTPRequestHandler):
    """Endpoint whose limit is reached."""

    def do_POST(self):
        self.server.count += 1
        self.rfile.read(int(self.headers['content-length']))
        self.send_response(429)
        self.send_header('content-type', 'application/json')
        self.send_header('content-length', str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(('127.0.0.1', 0), Limited)
Thread(target=server.serve_forever, daemon=True).start()


def error_of(complete, **options):
    """Returns the class of a call's error, True if it is an openai.RateLimitError, and the text to show."""
    server.count = 0
    base = f'http://127.0.0.1:{server.server_port}/v1'
    messages = [{'role': 'user', 'content': 'hello'}]
    try:
        complete(model='openai/model', api_base=base, api_key='key', messages=messages, **options)
    except Exception as error:
        shown = f'{type(error).__name__} after {server.count} requests ({str(error).splitlines()[0][:60]})'
        return type(error), isinstance(error, openai.RateLimitError), shown
    sys.exit('a call had no error')


litellm.suppress_debug_info = True
plain = error_of(litellm.completion)
retried = error_of(litellm.completion, num_retries=2)
from_async = error_of(lambda **call: asyncio.run(litellm.acompletion(**call)), num_retries=2)
print(f'litellm {version("litellm")}, openai {version("openai")}')
print('expected: a RateLimitError for each call')
print(f'observed: completion: {plain[2]}')
print(f'observed: completion, num_retries=2: {retried[2]}')
print(f'observed: acompletion, num_retries=2: {from_async[2]}')
is_hidden = retried[0] is Exception and 'tenacity' in retried[2]
sys.exit(0 if plain[1] and from_async[1] and is_hidden else 1)
END
LITELLM_LOCAL_MODEL_COST_MAP=True venv/bin/python try.py 2> errors.txt || { cat errors.txt; exit 1; }
