#!/usr/bin/env bash
# completion(num_retries=2) of LiteLLM 1.108.7 sends a request five times to an endpoint of the OpenAI API that is
# overloaded: the client of openai below it retries twice, and LiteLLM twice more. The same call sends three requests to
# an endpoint of the Anthropic API. The number of attempts, and the load on a struggling endpoint, vary by provider.
# Exits with 1 if the packages behave differently. Needs Python 3.10 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check litellm==1.108.7 openai==3.57.0 tenacity==9.1.2
cat > try.py <<'END'
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version

import litellm


class Overloaded(BaseHTTPRequestHandler):
    """Endpoint that answers each request with 503 and counts the requests by their paths."""

    requests = {}

    def do_POST(self):
        self.requests[self.path] = self.requests.get(self.path, 0) + 1
        self.rfile.read(int(self.headers['content-length']))
        body = b'{"error": {"message": "overloaded"}}'
        self.send_response(503)
        self.send_header('content-type', 'application/json')
        self.send_header('content-length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def requests_of(model, path, url):
    """Returns the number of requests that one call with two retries sends."""
    messages = [{'role': 'user', 'content': 'hello'}]
    try:
        litellm.completion(model=model, api_base=url, api_key='key', messages=messages, num_retries=2)
    except litellm.ServiceUnavailableError:
        return Overloaded.requests[path]
    raise AssertionError('the call fails with the error of the endpoint')


server = ThreadingHTTPServer(('127.0.0.1', 0), Overloaded)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f'http://127.0.0.1:{server.server_port}'
litellm.suppress_debug_info = True
openai = requests_of('openai/model', '/v1/chat/completions', f'{url}/v1')
anthropic = requests_of('anthropic/model', '/v1/messages', url)
print(f'litellm {version("litellm")}, openai {version("openai")}, tenacity {version("tenacity")}')
print('expected: num_retries=2 sends 3 requests to either endpoint')
print(f'observed: {openai} requests to the endpoint of the OpenAI API, {anthropic} to that of the Anthropic API')
sys.exit(0 if openai == 5 and anthropic == 3 else 1)
END
LITELLM_LOCAL_MODEL_COST_MAP=True venv/bin/python try.py 2> errors.txt || { cat errors.txt; exit 1; }
