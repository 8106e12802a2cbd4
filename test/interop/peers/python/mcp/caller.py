"""MCP client on the SDK. PEER_ANSWER is the answer to each question; without it the user declines."""

import os

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult
from tea_tools import ANSWER, call_tools

KEY = os.environ.get('PEER_KEY')


async def answer(context, params):
    """Gives the answer for each member that the question asks for."""
    if ANSWER is None:
        return ElicitResult(action='decline')
    return ElicitResult(action='accept', content=dict.fromkeys(params.requested_schema['properties'], ANSWER))


async def call(url, operation, texts):
    http = httpx2.AsyncClient(headers={'x-api-key': KEY} if KEY else None, timeout=None)
    transport = streamable_http_client(url, http_client=http)
    async with Client(transport, elicitation_callback=answer) as client:

        def call_tool(name, inputs, progressed):
            return client.call_tool(name, inputs, progress_callback=progressed)

        await call_tools(client.list_tools, call_tool, operation, texts)
