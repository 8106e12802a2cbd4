#!/usr/bin/env bash
# The REST server of a2a-sdk 0.3.26 (Python) refuses the body of A2A 0.3 for a push notification config. The service of
# 0.3 maps `config` of CreateTaskPushNotificationConfigRequest to the body of the HTTP request, and the descriptor in
# the package says so. The server reads the whole request message from the body instead, and answers a config with 500.
# Clients that follow the mapping, such as that of @a2a-js/sdk, can therefore register no webhook.
# Exits with 1 if the package behaves differently. Needs Python 3.10 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'a2a-sdk[http-server,grpc]==0.3.26' uvicorn==0.54.0
cat > try.py <<'END'
import asyncio
import logging
import socket
import sys
from importlib.metadata import version

import httpx
import uvicorn
from a2a.grpc import a2a_pb2
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2ARESTFastAPIApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryPushNotificationConfigStore, InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard
from a2a.utils import new_task
from google.api import annotations_pb2

logging.disable(logging.CRITICAL)
SENT = {'request': {'message_id': 'm', 'role': 'ROLE_USER', 'content': [{'text': 'tea'}]}}


class Asker(AgentExecutor):
    """Asks a question, so that its Task stays open."""

    async def execute(self, context, event_queue):
        await event_queue.enqueue_event(new_task(context.message))
        await TaskUpdater(event_queue, context.task_id, context.context_id).requires_input(final=True)

    async def cancel(self, context, event_queue):
        pass


def mapped_body():
    """Returns the member of the request that the descriptor of the service maps to the body."""
    service = a2a_pb2.DESCRIPTOR.services_by_name['A2AService']
    method = service.methods_by_name['CreateTaskPushNotificationConfig']
    return method.GetOptions().Extensions[annotations_pb2.http].body


async def main():
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    url = f'http://127.0.0.1:{port}'
    card = AgentCard(
        name='asker', description='Asks', version='1', url=url, preferred_transport='HTTP+JSON', skills=[],
        default_input_modes=['text/plain'], default_output_modes=['text/plain'],
        capabilities=AgentCapabilities(push_notifications=True),
    )
    handler = DefaultRequestHandler(
        Asker(), InMemoryTaskStore(), push_config_store=InMemoryPushNotificationConfigStore()
    )
    app = A2ARESTFastAPIApplication(card, handler).build()
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level='critical'))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.05)
    async with httpx.AsyncClient(base_url=url, timeout=30) as client:
        task_id = (await client.post('/v1/message:send', json=SENT)).json()['task']['id']
        path = f'/v1/tasks/{task_id}/pushNotificationConfigs'
        name = f'tasks/{task_id}/pushNotificationConfigs/c'
        config = {'name': name, 'pushNotificationConfig': {'id': 'c', 'url': 'http://127.0.0.1:1/hook'}}
        mapped = await client.post(path, json=config)
        whole = await client.post(path, json={'parent': f'tasks/{task_id}', 'configId': 'c', 'config': config})
    server.should_exit = True
    await serving
    print(f'a2a-sdk {version("a2a-sdk")}; the descriptor maps the body to "{mapped_body()}"')
    print('expected: 200 for the config as body')
    print(f'observed: {mapped.status_code} for the config as body, {whole.status_code} for the whole request')
    return 0 if (mapped_body(), mapped.status_code, whole.status_code) == ('config', 500, 200) else 1


sys.exit(asyncio.run(main()))
END
timeout 60 venv/bin/python try.py
