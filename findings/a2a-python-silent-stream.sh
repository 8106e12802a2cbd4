#!/usr/bin/env bash
# The client of a2a-sdk 1.3.0 (Python) with its default settings gives up a stream in which an agent says nothing for five
# seconds: the timeout of its HTTP client for one answer is also that between two events. Takes about ten seconds.
# Exits with 1 if the package behaves differently. Needs Python 3.10 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'a2a-sdk[http-server]==1.3.0' uvicorn==0.54.0
cat > try.py <<'END'
import asyncio
import logging
import socket
import sys
from importlib.metadata import version

import uvicorn
from a2a.client import create_client
from a2a.helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Message, Part, Role, SendMessageRequest
from starlette.applications import Starlette

logging.disable(logging.CRITICAL)


class Slow(AgentExecutor):
    """Thinks for as many seconds as the Message says."""

    async def execute(self, context, event_queue):
        await event_queue.enqueue_event(new_task_from_user_message(context.message))
        await asyncio.sleep(float(context.get_user_input()))
        await TaskUpdater(event_queue, context.task_id, context.context_id).complete()

    async def cancel(self, context, event_queue):
        pass


async def end_of(url, seconds):
    """The last that the client says about a Task."""
    client = await create_client(url)
    message = Message(message_id=f'm{seconds}', role=Role.ROLE_USER, parts=[Part(text=str(seconds))])
    last = 'nothing'
    try:
        async for item in client.send_message(SendMessageRequest(message=message)):
            last = item.WhichOneof('payload')
            if last == 'status_update':
                return 'completed' if item.status_update.status.state == 3 else 'not completed'
    except Exception as error:
        return f'{type(error).__name__} after {last}'
    return f'the end after {last}'


async def main():
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    url = f'http://127.0.0.1:{port}/'
    card = AgentCard(
        name='slow', description='Thinks', version='1.0.0', capabilities=AgentCapabilities(streaming=True),
        supported_interfaces=[AgentInterface(url=url, protocol_binding='JSONRPC', protocol_version='1.0')],
        default_input_modes=['text/plain'], default_output_modes=['text/plain'],
        skills=[AgentSkill(id='think', name='think', description='Thinks', tags=['slow'])],
    )
    handler = DefaultRequestHandler(agent_executor=Slow(), agent_card=card, task_store=InMemoryTaskStore())
    routes = [*create_agent_card_routes(card), *create_jsonrpc_routes(handler, '/')]
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), port=port, log_level='critical'))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.05)
    seen = [await end_of(url, 0.5), await end_of(url, 7)]
    server.should_exit = True
    await serving
    print(f'a2a-sdk {version("a2a-sdk")}')
    print('expected: the stream ends with a completed Task, after half a second and after seven')
    print(f'observed: "{seen[0]}" after half a second; "{seen[1]}" where the agent thinks for seven')
    return 0 if seen[0] == 'completed' and 'Timeout' in seen[1] else 1


sys.exit(asyncio.run(main()))
END
venv/bin/python try.py
