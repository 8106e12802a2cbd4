"""Serves an application on loopback. Every call needs the key in PEER_KEY, or a token of PEER_TOKENS. Cards are public."""

import os

import uvicorn
from starlette.responses import PlainTextResponse

KEY = os.environ.get('PEER_KEY')
KEY_HEADER = 'x-api-key'
TOKENS = os.environ.get('PEER_TOKENS')
TLS = {'ssl_certfile': os.environ.get('PEER_TLS_CERT'), 'ssl_keyfile': os.environ.get('PEER_TLS_KEY')}


async def may_call(headers):
    """Returns True for a call with the key, or with a token that the server of tokens knows."""
    if TOKENS is None:
        return KEY is None or headers.get(KEY_HEADER.encode(), b'').decode() == KEY
    # Not every peer has this package.
    import httpx

    token = headers.get(b'authorization', b'').decode().removeprefix('Bearer ')
    async with httpx.AsyncClient() as http:
        answer = await http.post(TOKENS.replace('/token', '/introspect'), data={'token': token})
    return answer.json()['active']


class Guard:
    """Refuses calls without the key or the token."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope['type'] == 'http' and '.well-known' not in scope['path']:
            if not await may_call(dict(scope['headers'])):
                return await PlainTextResponse('a key is missing', 401)(scope, receive, send)
        return await self.app(scope, receive, send)


def server_of(app, port):
    config = uvicorn.Config(Guard(app), host='127.0.0.1', port=int(port), log_level='critical', **TLS)
    return uvicorn.Server(config)


def serve_app(app, port):
    server_of(app, port).run()
