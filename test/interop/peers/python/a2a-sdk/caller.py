"""Client on the SDK of A2A 1.0."""

import os
import uuid

import httpx
import tokens
from a2a.client import ClientConfig, create_client
from a2a.client.auth import AuthInterceptor, CredentialService
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
)
from google.protobuf.json_format import MessageToJson, ParseDict
from grpc_keys import open_channel

KEY = os.environ.get('PEER_KEY')


class Tokens(CredentialService):
    async def get_credentials(self, security_scheme_name, context):
        return await tokens.fetch_token()


def show(event):
    print(MessageToJson(event, indent=None), flush=True)
    return event


def message(text, **fields):
    return Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[Part(text=text)], **fields)


async def connect(base, binding, streams):
    http = httpx.AsyncClient(headers={'x-api-key': KEY} if KEY else None, timeout=None)
    config = ClientConfig(
        streaming=streams,
        httpx_client=http,
        grpc_channel_factory=open_channel,
        supported_protocol_bindings=[binding],
        use_client_preference=True,
    )
    interceptors = [AuthInterceptor(Tokens())] if tokens.URL else None
    return await create_client(base, client_config=config, interceptors=interceptors)


async def send(client, said, **configuration):
    request = SendMessageRequest(message=said, configuration=SendMessageConfiguration(**configuration))
    async for event in client.send_message(request):
        show(event)
    return event.task


async def call(base, binding, operation, texts):
    client = await connect(base, binding, operation == 'stream')
    if operation in ('send', 'stream'):
        await send(client, message(texts[0]))
    elif operation == 'ask':
        asked = await send(client, message(texts[0]))
        await send(client, message(texts[1], task_id=asked.id, context_id=asked.context_id))
    elif operation == 'follow-up':
        first = await send(client, message(texts[0]))
        await send(client, message(texts[1], context_id=first.context_id))
    elif operation == 'parts':
        said = message(texts[0])
        said.parts.append(Part(raw=b'%PDF', filename='tea.pdf', media_type='application/pdf'))
        said.parts.append(ParseDict({'data': {'cups': 2}}, Part()))
        await send(client, said)
    elif operation == 'cancel':
        begun = await send(client, message(texts[0]), return_immediately=True)
        show(await client.cancel_task(CancelTaskRequest(id=begun.id)))
    elif operation == 'resubscribe':
        begun = await send(client, message(texts[0]), return_immediately=True)
        client = await connect(base, binding, True)
        async for event in client.subscribe(SubscribeToTaskRequest(id=begun.id)):
            show(event)
    elif operation == 'push':
        config = TaskPushNotificationConfig(url=texts[1], token=texts[2])
        await send(client, message(texts[0]), return_immediately=True, task_push_notification_config=config)
    elif operation == 'error':
        show(await client.get_task(GetTaskRequest(id='none')))
