"""Runs a command of a peer, as peer-program.ts describes them. Arguments: folder of the peer, command, its arguments."""

import asyncio
import json
import logging
import sys

FOLDER, COMMAND, *ARGS = sys.argv[1:]
sys.path.insert(0, FOLDER)
logging.disable(logging.CRITICAL)


async def call_peer(*args):
    from caller import call

    *first, texts = (*args[:3], args[3:]) if COMMAND == 'a2a-call' else (*args[:2], args[2:])
    try:
        await call(*first, texts)
    except Exception as error:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        print(json.dumps({'error': f'{type(error).__name__}: {error}'}), flush=True)


if COMMAND.endswith('-serve'):
    from agent import serve

    serve(*ARGS)
else:
    asyncio.run(call_peer(*ARGS))
