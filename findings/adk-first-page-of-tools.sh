#!/usr/bin/env bash
# McpToolset of google-adk 2.13.0 (Python) reads only the first page of an MCP server's tools. MCP lets a server answer
# tools/list in pages, and the client follows nextCursor. The tools of the later pages are missing for the agent, and
# neither an error nor a warning says so.
# Exits with 1 if the package behaves differently. Needs Python 3.10 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check google-adk==2.13.0 mcp==2.3.0
cat > server.py <<'END'
import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import ListToolsResult, Tool


def tool(name):
    return Tool(name=name, description=f'Does the {name}', input_schema={'type': 'object', 'properties': {}})


async def list_tools(context, params):
    if params is None or params.cursor is None:
        return ListToolsResult(tools=[tool('search')], next_cursor='second')
    return ListToolsResult(tools=[tool('refund')])


async def main():
    server = Server('shop', on_list_tools=list_tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


anyio.run(main)
END
cat > try.py <<'END'
import asyncio
import sys
import warnings
from importlib.metadata import version

warnings.simplefilter('ignore')

from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

SERVER = StdioServerParameters(command=sys.executable, args=['server.py'])


async def served():
    """Returns the names of all tools of the server, page by page."""
    names = []
    async with Client(stdio_client(SERVER)) as client:
        page = await client.list_tools()
        names += [tool.name for tool in page.tools]
        while page.next_cursor is not None:
            page = await client.list_tools(cursor=page.next_cursor)
            names += [tool.name for tool in page.tools]
    return names


async def seen_by_adk():
    """Returns the names of the tools that an agent of ADK gets."""
    toolset = McpToolset(connection_params=StdioConnectionParams(server_params=SERVER, timeout=30))
    names = [tool.name for tool in await toolset.get_tools()]
    await toolset.close()
    return names


async def main():
    every, seen = await served(), await seen_by_adk()
    print(f'google-adk {version("google-adk")}, mcp {version("mcp")}')
    print(f'expected: the agent has the tools {", ".join(every)}')
    print(f'observed: the agent has the tools {", ".join(seen)}')
    return 0 if every == ['search', 'refund'] and seen == ['search'] else 1


sys.exit(asyncio.run(main()))
END
timeout 60 venv/bin/python try.py 2> errors.txt || { cat errors.txt; exit 1; }
