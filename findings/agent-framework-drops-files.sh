#!/usr/bin/env bash
# The A2A server of Microsoft's Agent Framework for Python (A2AExecutor of agent-framework-a2a 1.0.0b261022) passes only
# the texts of a Message to its agent. Files and data of the caller vanish without an error: the Task completes. The
# agent's own run() takes files, and the framework's A2A client reads and sends files as parts.
# Exits with 1 if the package behaves differently. Needs Python 3.10 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check \
  agent-framework-a2a==1.0.0b261022 agent-framework-core==1.23.0 'a2a-sdk[http-server]==1.3.0' uvicorn==0.54.0
cat > try.py <<'END'
import asyncio
import logging
import socket
import sys
from importlib.metadata import version

import httpx
import uvicorn
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentInterface
from agent_framework import Agent, BaseChatClient, ChatResponse, Content, Message
from agent_framework_a2a import A2AExecutor
from starlette.applications import Starlette

logging.disable(logging.CRITICAL)
PDF = 'data:application/pdf;base64,JVBERg=='
SENT = [{'text': 'read'}, {'raw': 'JVBERg==', 'filename': 'tea.pdf', 'mediaType': 'application/pdf'}, {'data': {'cups': 2}}]
seen = []


class Recorder(BaseChatClient):
    """Model that records the types of the contents that it gets."""

    async def _inner_get_response(self, *, messages, stream, options, **kwargs):
        seen.append([content.type for content in messages[-1].contents])
        return ChatResponse(messages=[Message('assistant', [Content.from_text('read it')])])


async def main():
    agent = Agent(client=Recorder(), name='reader')
    await agent.run(Message('user', [Content.from_text('read'), Content.from_uri(PDF, media_type='application/pdf')]))
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    url = f'http://127.0.0.1:{port}/'
    at = AgentInterface(url=url, protocol_binding='JSONRPC', protocol_version='1.0')
    card = AgentCard(
        name='reader', description='Reads', version='1', supported_interfaces=[at], capabilities=AgentCapabilities(),
        default_input_modes=['text/plain', 'application/pdf', 'application/json'],
    )
    handler = DefaultRequestHandler(A2AExecutor(agent), InMemoryTaskStore(), card)
    app = Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, '/')])
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level='critical'))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.05)
    body = {
        'jsonrpc': '2.0', 'id': 1, 'method': 'SendMessage',
        'params': {'message': {'messageId': 'm', 'role': 'ROLE_USER', 'parts': SENT}},
    }
    async with httpx.AsyncClient(timeout=30) as client:
        answer = (await client.post(url, json=body, headers={'A2A-Version': '1.0'})).json()
    server.should_exit = True
    await serving
    state = answer['result']['task']['status']['state']
    by_run, by_a2a = seen
    print(f'agent-framework-a2a {version("agent-framework-a2a")}, agent-framework-core {version("agent-framework-core")}')
    print('expected: the model gets the file and the data of the Message, or the Task is refused')
    print(f'observed: the model gets {by_a2a} over A2A, and the Task is {state}; by run() it gets {by_run}')
    return 0 if by_run == ['text', 'data'] and by_a2a == ['text'] and state == 'TASK_STATE_COMPLETED' else 1


sys.exit(asyncio.run(main()))
END
timeout 60 venv/bin/python try.py
