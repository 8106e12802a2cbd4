#!/usr/bin/env bash
# If the executor of an agent on a2a-sdk 0.3.26 (Python) raises an exception, message/send answers with an error, but
# message/stream breaks off without one, and the Task stays "submitted" or "working". A caller of the stream that reads
# the Task afterwards, as A2A recommends after a broken connection, cannot see that the work has ended.
# a2a-sdk 1.3.0 ends such a Task as failed.
# Exits with 1 if the package behaves differently. Needs Python 3.10 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'a2a-sdk[http-server]==0.3.26' uvicorn==0.54.0
cat > try.py <<'END'
import asyncio
import json
import logging
import socket
import sys
from importlib.metadata import version

import httpx
import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard
from a2a.utils import new_task

logging.disable(logging.CRITICAL)


class Faulty(AgentExecutor):
    async def execute(self, context, event_queue):
        await event_queue.enqueue_event(new_task(context.message))
        raise RuntimeError('the kettle broke')

    async def cancel(self, context, event_queue):
        pass


def body_of(method, params):
    return {'jsonrpc': '2.0', 'id': 1, 'method': method, 'params': params}


def message(message_id):
    return {'message': {'kind': 'message', 'messageId': message_id, 'role': 'user', 'parts': [{'kind': 'text', 'text': 'a'}]}}


async def read_stream(client, url):
    """Returns the items of the stream, and the way in which it ends."""
    items = []
    try:
        async with client.stream('POST', url, json=body_of('message/stream', message('m2'))) as response:
            async for line in response.aiter_lines():
                if line.startswith('data:'):
                    items.append(json.loads(line[5:]))
    except httpx.RemoteProtocolError:
        return items, 'a broken connection'
    return items, 'its end'


async def main():
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    url = f'http://127.0.0.1:{port}/'
    card = AgentCard(
        name='faulty', description='Fails', version='1', url=url, skills=[], default_input_modes=['text/plain'],
        default_output_modes=['text/plain'], capabilities=AgentCapabilities(streaming=True),
    )
    app = A2AStarletteApplication(card, DefaultRequestHandler(Faulty(), InMemoryTaskStore())).build()
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level='critical'))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.05)
    async with httpx.AsyncClient(timeout=30) as client:
        sent = (await client.post(url, json=body_of('message/send', message('m1')))).json()
        items, end = await read_stream(client, url)
        task_id = items[0]['result']['id']
        task = (await client.post(url, json=body_of('tasks/get', {'id': task_id}))).json()['result']
    server.should_exit = True
    await serving
    state = task['status']['state']
    failed = [item for item in items if 'error' in item or item['result']['status']['state'] == 'failed']
    print(f'a2a-sdk {version("a2a-sdk")}; message/send answers with the error "{sent["error"]["message"]}"')
    print('expected: message/stream ends with an error or a failed Task, and tasks/get returns a failed Task')
    print(f'observed: {len(failed)} of {len(items)} items say so before {end}; tasks/get returns a Task that is {state}')
    return 0 if 'kettle' in sent['error']['message'] and not failed and state in ('submitted', 'working') else 1


sys.exit(asyncio.run(main()))
END
timeout 60 venv/bin/python try.py
