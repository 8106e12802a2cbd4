"""Model without a network: an endpoint with OpenAI's chat completions, in a thread of this process."""

import json
import threading
import time

import uvicorn
from fake_words import words_in
from starlette.applications import Starlette
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route
from words import pieces_of

ANSWER_TOOL = 'final_answer'


def texts_of(content):
    return [content] if isinstance(content, str) else [it.get('text') or '' for it in content or ()]


def chunk_of(delta, reason=None):
    choice = {'index': 0, 'delta': delta, 'finish_reason': reason}
    return {'id': 'c', 'object': 'chat.completion.chunk', 'created': 1, 'model': 'fake', 'choices': [choice]}


def call_of(text):
    """Returns a call of the tool with which some agents give their answer."""
    function = {'name': ANSWER_TOOL, 'arguments': json.dumps({'response': text})}
    return {'role': 'assistant', 'content': None, 'tool_calls': [{'index': 0, 'id': 'a', 'type': 'function', 'function': function}]}


async def events_of(pieces):
    async for piece in pieces:
        yield f'data: {json.dumps(chunk_of({"role": "assistant", "content": piece}))}\n\n'
    yield f'data: {json.dumps(chunk_of({}, "stop"))}\n\n'
    yield 'data: [DONE]\n\n'


async def events_of_call(pieces):
    yield f'data: {json.dumps(chunk_of(call_of("".join([piece async for piece in pieces]))))}\n\n'
    yield f'data: {json.dumps(chunk_of({}, "tool_calls"))}\n\n'
    yield 'data: [DONE]\n\n'


async def complete(request):
    body = await request.json()
    users = [words_in(texts_of(it['content'])) for it in body['messages'] if it['role'] == 'user']
    *earlier, text = users
    if text == 'echo':
        text = f'got {json.dumps(body["messages"][-1]["content"])}'
    if text.startswith('throw'):
        return JSONResponse({'error': {'message': 'the kettle broke', 'type': 'fake', 'code': None}}, 400)
    pieces = pieces_of(text, earlier)
    calls = any(it['function']['name'] == ANSWER_TOOL for it in body.get('tools') or ())
    if body.get('stream'):
        events = events_of_call(pieces) if calls else events_of(pieces)
        return StreamingResponse(events, media_type='text/event-stream')
    words = ''.join([piece async for piece in pieces])
    message = call_of(words) if calls else {'role': 'assistant', 'content': words}
    usage = {'prompt_tokens': 1, 'completion_tokens': 1, 'total_tokens': 2}
    choices = [{'index': 0, 'message': message, 'finish_reason': 'tool_calls' if calls else 'stop'}]
    answer = {'id': 'c', 'object': 'chat.completion', 'created': 1, 'model': 'fake', 'choices': choices, 'usage': usage}
    return JSONResponse(answer)


def start_model():
    """Starts the endpoint. @returns its base URL for clients of OpenAI's API"""
    app = Starlette(routes=[Route('/v1/chat/completions', complete, methods=['POST'])])
    server = uvicorn.Server(uvicorn.Config(app, host='127.0.0.1', port=0, log_level='critical'))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    return f'http://127.0.0.1:{port}/v1'
