#!/usr/bin/env bash
# The server of fasta2a 2.1.1 (Python) sends the time of a Task's status without a time zone ("2026-11-30T22:41:56.9").
# In A2A 1.0 it is a google.protobuf.Timestamp, whose JSON ends with "Z" or an offset (RFC 3339). The client of a2a-sdk
# 1.3.0 therefore reads no Task of this server: each call fails with a ParseError.
# Exits with 1 if the packages behave differently. Needs Python 3.10 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check \
  fasta2a==2.1.1 pydantic-ai-slim==2.68.0 'a2a-sdk[http-server]==1.3.0' uvicorn==0.54.0
cat > try.py <<'END'
import asyncio
import logging
import socket
import sys
from importlib.metadata import version

import httpx
import uvicorn
from a2a.client import create_client
from a2a.types import Message, Part, Role, SendMessageRequest
from fasta2a.pydantic_ai import agent_to_a2a
from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel

logging.disable(logging.CRITICAL)
SENT = {'messageId': 'm1', 'role': 'ROLE_USER', 'parts': [{'text': 'tea'}]}


async def time_of(url):
    """The time of the status of a Task, as the server sends it."""
    body = {'jsonrpc': '2.0', 'id': 1, 'method': 'SendMessage', 'params': {'message': SENT}}
    async with httpx.AsyncClient() as client:
        answer = (await client.post(url, json=body, headers={'A2A-Version': '1.0'})).json()
    return answer['result']['task']['status']['timestamp']


async def outcome_of(url):
    """What a call by the SDK's client ends with."""
    client = await create_client(url)
    message = Message(message_id='m2', role=Role.ROLE_USER, parts=[Part(text='tea')])
    try:
        async for item in client.send_message(SendMessageRequest(message=message)):
            return item.WhichOneof('payload')
    except Exception as error:
        return f'{type(error).__name__}: {error}'


async def main():
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    url = f'http://127.0.0.1:{port}/'
    app = agent_to_a2a(Agent(TestModel(), name='talker'), url=url)
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level='critical'))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.05)
    time, outcome = await time_of(url), await outcome_of(url)
    server.should_exit = True
    await serving
    print(f'fasta2a {version("fasta2a")}, a2a-sdk {version("a2a-sdk")}')
    print('expected: a time that ends with Z or an offset, and a Task for the client of the SDK')
    print(f'observed: {time}, and for the client {outcome}')
    has_zone = time.endswith('Z') or '+' in time
    return 0 if not has_zone and 'ParseError' in outcome else 1


sys.exit(asyncio.run(main()))
END
venv/bin/python try.py
