"""MCP client of fastmcp. PEER_ANSWER is the answer to each question; without it the user declines."""

import os

from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StreamableHttpTransport
from tea_tools import ANSWER, call_tools

KEY = os.environ.get('PEER_KEY')


async def answer(message, response_type, params, context):
    """Gives the answer for each member that the question asks for."""
    if ANSWER is None:
        return ElicitResult(action='decline')
    return dict.fromkeys(params.requested_schema['properties'], ANSWER)


async def call(url, operation, texts):
    transport = StreamableHttpTransport(url, headers={'x-api-key': KEY} if KEY else None)
    async with Client(transport, elicitation_handler=answer) as client:

        async def list_tools():
            return {'tools': [it.model_dump(mode='json', by_alias=True) for it in await client.list_tools()]}

        def call_tool(name, inputs, progressed):
            return client.call_tool(name, inputs, progress_handler=progressed)

        await call_tools(list_tools, call_tool, operation, texts)
