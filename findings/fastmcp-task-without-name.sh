#!/usr/bin/env bash
# The client of fastmcp 4.1.4 with fastmcp-tasks 4.1.4 (Python) sends tasks/get and tasks/cancel of MCP over HTTP
# without the header Mcp-Name. The tasks extension of MCP (SEP-2663) requires it there, with the id of the task, so that
# a proxy can find the instance that holds the task. The same client sends Mcp-Name with tools/call. The server of
# the TypeScript SDK 2.4.0 requires the header, and answers a request about a task without it with 400.
# Exits with 1 if the packages behave differently. Needs Python 3.10 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check \
  'fastmcp[tasks]==4.1.4' fastmcp-tasks==4.1.4 mcp==2.3.0 uvicorn==0.54.0
cat > try.py <<'END'
import asyncio
import json
import socket
import sys
from importlib.metadata import version

import uvicorn
from fastmcp import Client, FastMCP
from fastmcp_tasks import TasksExtension, call_tool_task

seen = {}


class Recorder:
    """Application that records the Mcp-Name of each JSON-RPC request before it passes the request on."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope['type'] != 'http':
            return await self.app(scope, receive, send)
        body = b''

        async def read():
            nonlocal body
            event = await receive()
            body += event.get('body', b'')
            if event['type'] == 'http.request' and not event.get('more_body') and body:
                request = json.loads(body)
                name = dict(scope['headers']).get(b'mcp-name')
                seen.setdefault(request['method'], []).append(name and name.decode())
            return event

        await self.app(scope, read, send)


async def main():
    server = FastMCP('shop')
    server.add_extension(TasksExtension())
    stopped = asyncio.Event()

    @server.tool(task=True)
    async def pack(order: str) -> str:
        return f'packed {order}'

    @server.tool(task=True)
    async def wait(order: str) -> str:
        await stopped.wait()
        return f'waited for {order}'

    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    app = Recorder(server.http_app())
    serving = uvicorn.Server(uvicorn.Config(app, port=port, log_level='critical'))
    task = asyncio.create_task(serving.serve())
    while not serving.started:
        await asyncio.sleep(0.05)
    async with Client(f'http://127.0.0.1:{port}/mcp') as client:
        packed = (await client.call_tool('pack', {'order': 'seven'})).data
        await (await call_tool_task(client, 'wait', {'order': 'eight'})).cancel()
    stopped.set()
    serving.should_exit = True
    await task
    names = {method: seen.get(method) for method in ('tools/call', 'tasks/get', 'tasks/cancel')}
    print(f'fastmcp {version("fastmcp")}, fastmcp-tasks {version("fastmcp-tasks")}, mcp {version("mcp")}')
    print('expected: Mcp-Name has the name of the tool in tools/call, the id of the task in tasks/get and tasks/cancel')
    for method, values in names.items():
        print(f'observed: {method} has {" and ".join(sorted({value or "no Mcp-Name" for value in values}))}')
    is_absent = set(names['tasks/get']) == {None} and set(names['tasks/cancel']) == {None}
    return 0 if packed == 'packed seven' and names['tools/call'] == ['pack', 'wait'] and is_absent else 1


sys.exit(asyncio.run(main()))
END
timeout 120 venv/bin/python try.py 2> errors.txt || { cat errors.txt; exit 1; }
