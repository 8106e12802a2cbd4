#!/usr/bin/env bash
# AgentOS of agno 3.1.10 (Python) reports a run that failed as completed to callers of message/stream: the Task of the
# stream is "completed", and its answer is empty. message/send reports the same run as "failed", with the text of the
# error. A caller that streams cannot see that the model could not be reached.
# Exits with 1 if the package behaves differently. Needs Python 3.10 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check \
  agno==3.1.10 'a2a-sdk[http-server]==0.3.26' fastapi==0.165.0 python-multipart==0.0.34 \
  uvicorn==0.54.0 openai==3.57.0
cat > try.py <<'END'
import asyncio
import json
import logging
import socket
import sys
from importlib.metadata import version

import httpx
import uvicorn
from agno.agent import Agent
from agno.models.openai.like import OpenAILike
from agno.os import AgentOS

logging.disable(logging.CRITICAL)


def free_port():
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        return free.getsockname()[1]


def body_of(method):
    message = {'kind': 'message', 'messageId': method, 'role': 'user', 'parts': [{'kind': 'text', 'text': 'tea'}]}
    return {'jsonrpc': '2.0', 'id': 1, 'method': method, 'params': {'message': message}}


def text_of(task):
    return ''.join(part['text'] for message in task.get('history', []) for part in message['parts'])


async def main():
    # No model listens at this address, so each run fails.
    model = OpenAILike(id='none', base_url=f'http://127.0.0.1:{free_port()}/v1', api_key='none', max_retries=0)
    agent = Agent(id='talker', name='talker', description='Talks', model=model, telemetry=False)
    app = AgentOS(agents=[agent], a2a_interface=True, telemetry=False).get_app()
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level='critical'))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.05)
    url = f'http://127.0.0.1:{port}/a2a/agents/talker/v1'
    async with httpx.AsyncClient(timeout=60) as client:
        sent = (await client.post(f'{url}/message:send', json=body_of('message/send'))).json()['result']
        stream = (await client.post(f'{url}/message:stream', json=body_of('message/stream'))).text
    server.should_exit = True
    await serving
    items = [json.loads(line[5:])['result'] for line in stream.splitlines() if line.startswith('data:')]
    streamed = [item for item in items if item['kind'] == 'task'][-1]
    print(f'agno {version("agno")}')
    print('expected: the Task is failed, and has the text of the error')
    for name, task in (('message/send', sent), ('message/stream', streamed)):
        print(f'observed: {name} returns a Task that is {task["status"]["state"]}, with the text "{text_of(task)}"')
    states = sent['status']['state'], streamed['status']['state']
    return 0 if states == ('failed', 'completed') and text_of(sent) and not text_of(streamed) else 1


sys.exit(asyncio.run(main()))
END
AGNO_TELEMETRY=false timeout 100 venv/bin/python try.py
