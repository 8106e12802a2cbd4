"""Words that select what an agent does, as peer-program.ts describes them."""

import asyncio
from pathlib import Path


async def pieces_of(text, earlier=()):
    """Yields the pieces of the answer to a text, after earlier texts of the same conversation."""
    word, *rest = text.split()
    if word == 'tell':
        yield 'one '
        while rest and not Path(rest[0]).exists():
            await asyncio.sleep(0.05)
        yield 'two'
    elif word == 'wait':
        yield 'one '
        await asyncio.Event().wait()
    elif word == 'throw':
        raise RuntimeError('the kettle broke')
    elif word == 'recall':
        yield f'heard {" and ".join(earlier) or "nothing"}'
    else:
        yield f'heard {text}'
