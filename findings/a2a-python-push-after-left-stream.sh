#!/usr/bin/env bash
# The server of a2a-sdk 0.3.26 (Python) sends no push notification for a Task whose stream its caller has left. A caller
# that registers a webhook and then closes its connection waits for the end of the Task in vain: the Task completes, and
# GetTask shows that. While the caller reads the stream, the notifications arrive.
# A2A 0.3 has push notifications for callers that keep no connection. a2a-sdk 1.3.0 sends them.
# Exits with 1 if the package behaves differently. Needs Python 3.10 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'a2a-sdk[http-server]==0.3.26' uvicorn==0.54.0
cat > try.py <<'END'
import asyncio
import logging
import socket
import sys
import uuid
from importlib.metadata import version

import httpx
import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import AgentCapabilities, AgentCard
from a2a.utils import new_task
from starlette.responses import Response
from starlette.routing import Route

logging.disable(logging.CRITICAL)
released = asyncio.Event()
notified = []


class Worker(AgentExecutor):
    """Works until it is released."""

    async def execute(self, context, event_queue):
        await event_queue.enqueue_event(new_task(context.message))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work()
        await released.wait()
        await updater.complete()

    async def cancel(self, context, event_queue):
        pass


async def hook(request):
    notified.append((await request.json())['status']['state'])
    return Response()


def body_of(method, params):
    return {'jsonrpc': '2.0', 'id': 1, 'method': method, 'params': params}


async def task_at_end(client, url, task_id):
    """Waits until the server says that the Task has completed."""
    while True:
        task = (await client.post(url, json=body_of('tasks/get', {'id': task_id}))).json()['result']
        if task['status']['state'] == 'completed':
            return
        await asyncio.sleep(0.05)


async def states_of(url, leaves):
    """Returns the states that the webhook of a Task gets, whose caller leaves its stream or reads it to the end."""
    released.clear()
    notified.clear()
    message = {'kind': 'message', 'messageId': uuid.uuid4().hex, 'role': 'user', 'parts': [{'kind': 'text', 'text': 'a'}]}
    configuration = {'pushNotificationConfig': {'url': f'{url}hook'}}
    params = {'message': message, 'configuration': configuration}
    async with httpx.AsyncClient(timeout=None) as client:
        async with client.stream('POST', url, json=body_of('message/stream', params)) as response:
            async for line in response.aiter_lines():
                if line.startswith('data:') and '"working"' in line:
                    task_id = line.split('"taskId":"')[1].split('"')[0]
                    if leaves:
                        break
                    released.set()
        released.set()
        await task_at_end(client, url, task_id)
        # Notifications are sent before the Task's next event is: a second is far more than one takes on loopback.
        await asyncio.sleep(1)
    return list(notified)


async def main():
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    url = f'http://127.0.0.1:{port}/'
    card = AgentCard(
        name='worker', description='Works', version='1', url=url, skills=[], default_input_modes=['text/plain'],
        default_output_modes=['text/plain'], capabilities=AgentCapabilities(streaming=True, push_notifications=True),
    )
    configs = InMemoryPushNotificationConfigStore()
    sender = BasePushNotificationSender(httpx.AsyncClient(), configs)
    handler = DefaultRequestHandler(Worker(), InMemoryTaskStore(), push_config_store=configs, push_sender=sender)
    app = A2AStarletteApplication(card, handler).build()
    app.routes.append(Route('/hook', hook, methods=['POST']))
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level='critical'))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.05)
    stays, leaves = await states_of(url, False), await states_of(url, True)
    server.should_exit = True
    await serving
    print(f'a2a-sdk {version("a2a-sdk")}')
    print('expected: the webhook is told "completed", whether the caller reads the stream to its end or leaves it')
    print(f'observed: {stays} if the caller reads it to its end; {leaves} if the caller leaves it after "working"')
    return 0 if 'completed' in stays and 'completed' not in leaves else 1


sys.exit(asyncio.run(main()))
END
venv/bin/python try.py
