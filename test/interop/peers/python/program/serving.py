"""Serves an application on loopback. Every call needs the key in PEER_KEY, if there is one. Cards are public."""

import os

import uvicorn
from starlette.responses import PlainTextResponse

KEY = os.environ.get('PEER_KEY')
KEY_HEADER = 'x-api-key'


class Guard:
    """Refuses calls without the key."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope['type'] == 'http' and KEY is not None and '.well-known' not in scope['path']:
            if dict(scope['headers']).get(KEY_HEADER.encode(), b'').decode() != KEY:
                return await PlainTextResponse('a key is missing', 401)(scope, receive, send)
        return await self.app(scope, receive, send)


def server_of(app, port):
    return uvicorn.Server(uvicorn.Config(Guard(app), host='127.0.0.1', port=int(port), log_level='critical'))


def serve_app(app, port):
    server_of(app, port).run()
