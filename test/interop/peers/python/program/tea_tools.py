"""Tools that mcp-called.ts calls, for the servers of the SDK and of fastmcp, and what their clients print."""

import asyncio
import json
import os
from pathlib import Path

ANSWER = os.environ.get('PEER_ANSWER')


def add_tools(server, image, error, context):
    """Adds the tools to a server. Arguments: its classes of images, of errors of tools, and of contexts."""

    @server.tool(description='Says what it is told')
    def echo(text: str) -> str:
        return text

    @server.tool(description='Adds two numbers')
    def add(a: int, b: int) -> dict[str, int]:
        return {'sum': a + b}

    @server.tool(description='Answers with an image')
    def picture() -> image:
        return image(data=b'png', format='png')

    @server.tool(description='Reports an error')
    def fail() -> str:
        raise error('no tea left')

    @server.tool(description='Reports its progress')
    async def brew(ctx: context) -> str:
        await ctx.report_progress(1, 2)
        await ctx.report_progress(2, 2)
        return 'brewed'

    @server.tool(description='Works until it is canceled, and writes a file')
    async def wait(path: str) -> str:
        Path(f'{path}.begun').touch()
        try:
            await asyncio.Event().wait()
        finally:
            Path(path).touch()


def show(value):
    shown = value.model_dump(mode='json', by_alias=True) if hasattr(value, 'model_dump') else value
    print(json.dumps(shown, default=vars), flush=True)


async def call_tools(list_tools, call_tool, operation, texts):
    """Does an operation of a client, whose functions list tools, and call one by name, inputs and progress handler."""
    if operation == 'list':
        return show(await list_tools())
    begun = asyncio.Event()

    async def progressed(progress, total, message):
        show({'progress': progress, 'message': message})
        begun.set()

    call = asyncio.ensure_future(call_tool(texts[0], json.loads(texts[1]), progressed))
    if operation == 'cancel':
        await begun.wait()
        call.cancel()
    try:
        show(await call)
    except asyncio.CancelledError:
        show({'error': 'canceled'})
