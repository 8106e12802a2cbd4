#!/usr/bin/env bash
# fasta2a 2.1.1 (agents of Pydantic AI) answers SendMessage of A2A 1.0 with a submitted Task, where the protocol wants it to
# wait for the end of the Task unless the request says returnImmediately. Callers that do not poll see no answer.
# Exits with 1 if the package behaves differently. Needs Python 3.10 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check fasta2a==2.1.1 pydantic-ai-slim==2.68.0 uvicorn==0.54.0 httpx==0.28.1
cat > try.py <<'END'
import asyncio
import socket
import sys
from importlib.metadata import version

import httpx
import uvicorn
from fasta2a.pydantic_ai import agent_to_a2a
from pydantic_ai import Agent, ModelResponse, TextPart
from pydantic_ai.models.function import FunctionModel

MESSAGE = {'messageId': 'm', 'role': 'ROLE_USER', 'parts': [{'text': 'hello'}]}


async def main():
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    url = f'http://127.0.0.1:{port}/'
    model = FunctionModel(lambda messages, info: ModelResponse(parts=[TextPart('good day')]))
    app = agent_to_a2a(Agent(model, name='greeter'), url=url)
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level='critical'))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.05)

    async def call(method, params):
        body = {'jsonrpc': '2.0', 'id': 1, 'method': method, 'params': params}
        return (await client.post(url, json=body, headers={'A2A-Version': '1.0'})).json()['result']

    async with httpx.AsyncClient() as client:
        task = (await call('SendMessage', {'message': MESSAGE}))['task']
        later = task
        while later['status']['state'] != 'TASK_STATE_COMPLETED':
            await asyncio.sleep(0.05)
            later = await call('GetTask', {'id': task['id']})
    server.should_exit = True
    await serving
    sent, text = task['status']['state'], later['artifacts'][0]['parts'][0]['text']
    print(f'fasta2a {version("fasta2a")}')
    print('expected: SendMessage without returnImmediately returns the completed Task with its Artifact')
    print(f'observed: SendMessage returns {sent} with {len(task.get("artifacts", []))} Artifacts; GetTask has "{text}" later')
    return 0 if sent == 'TASK_STATE_SUBMITTED' and text == 'good day' else 1


sys.exit(asyncio.run(main()))
END
timeout 60 venv/bin/python try.py
