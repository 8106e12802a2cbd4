"""Client on the SDK of A2A 0.3."""

import base64
import os
import uuid

import httpx
from a2a.client import ClientConfig, ClientFactory
from a2a.types import (
    DataPart,
    FilePart,
    FileWithBytes,
    Message,
    Part,
    PushNotificationConfig,
    Role,
    TaskIdParams,
    TaskQueryParams,
    TextPart,
)
from grpc_keys import open_channel

KEY = os.environ.get('PEER_KEY')


def show(event):
    """Prints the Task or update of an event of the client."""
    shown = event[1] or event[0] if isinstance(event, tuple) else event
    print(shown.model_dump_json(by_alias=True, exclude_none=True), flush=True)
    return event[0] if isinstance(event, tuple) else event


def message(text, *others, **fields):
    parts = [Part(root=it) for it in (TextPart(text=text), *others)]
    return Message(message_id=str(uuid.uuid4()), role=Role.user, parts=parts, **fields)


async def connect(base, binding, streams, polls=False, pushes=()):
    http = httpx.AsyncClient(headers={'x-api-key': KEY} if KEY else None, timeout=None)
    config = ClientConfig(
        streaming=streams,
        polling=polls,
        httpx_client=http,
        grpc_channel_factory=open_channel,
        supported_transports=[binding],
        use_client_preference=True,
        push_notification_configs=list(pushes),
    )
    return await ClientFactory.connect(base, client_config=config)


async def send(client, said):
    async for event in client.send_message(said):
        last = show(event)
    return last


async def call(base, binding, operation, texts):
    polls = operation in ('cancel', 'resubscribe', 'push')
    pushes = [PushNotificationConfig(url=texts[1], token=texts[2])] if operation == 'push' else []
    client = await connect(base, binding, operation == 'stream', polls, pushes)
    if operation in ('send', 'stream', 'push'):
        await send(client, message(texts[0]))
    elif operation == 'ask':
        asked = await send(client, message(texts[0]))
        await send(client, message(texts[1], task_id=asked.id, context_id=asked.context_id))
    elif operation == 'follow-up':
        first = await send(client, message(texts[0]))
        await send(client, message(texts[1], context_id=first.context_id))
    elif operation == 'parts':
        pdf = base64.b64encode(b'%PDF').decode()
        file = FilePart(file=FileWithBytes(bytes=pdf, name='tea.pdf', mime_type='application/pdf'))
        await send(client, message(texts[0], file, DataPart(data={'cups': 2})))
    elif operation == 'cancel':
        begun = await send(client, message(texts[0]))
        show(await client.cancel_task(TaskIdParams(id=begun.id)))
    elif operation == 'resubscribe':
        begun = await send(client, message(texts[0]))
        client = await connect(base, binding, True)
        async for event in client.resubscribe(TaskIdParams(id=begun.id)):
            show(event)
    elif operation == 'error':
        show(await client.get_task(TaskQueryParams(id='none')))
