"""Agent on the SDK of A2A 0.3."""

import asyncio

import grpc
import httpx
from a2a.grpc.a2a_pb2_grpc import add_A2AServiceServicer_to_server
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2ARESTFastAPIApplication, A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import AgentCapabilities, AgentCard, APIKeySecurityScheme, Part, SecurityScheme, TextPart
from a2a.utils import new_task
from grpc_keys import GrpcGuard
from serving import KEY, KEY_HEADER, serve_app, server_of
from words import pieces_of


def parts_of(text):
    return [Part(root=TextPart(text=text))]


class Talker(AgentExecutor):
    async def execute(self, context, event_queue):
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        text = context.get_user_input()
        if context.current_task is not None:
            await updater.add_artifact(parts_of(f'[{text}]'))
            return await updater.complete()
        await event_queue.enqueue_event(new_task(context.message))
        await updater.start_work()
        if text == 'ask':
            await updater.requires_input(updater.new_agent_message(parts_of('Which tea?')))
        elif text == 'fail':
            await updater.failed(updater.new_agent_message(parts_of('no tea left')))
        elif text == 'context':
            await updater.add_artifact(parts_of(context.context_id))
            await updater.complete()
        elif text == 'echo':
            await updater.add_artifact([part for part in context.message.parts if part.root.kind != 'text'])
            await updater.complete()
        else:
            await self.say(updater, text)

    async def say(self, updater, text):
        appends = False
        async for piece in pieces_of(text):
            await updater.add_artifact(parts_of(piece), artifact_id='answer', append=appends, last_chunk=appends)
            appends = True
        await updater.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def card_at(address, binding):
    scheme = SecurityScheme(root=APIKeySecurityScheme(**{'in': 'header', 'name': KEY_HEADER}))
    return AgentCard(
        name='talker',
        description='Talks',
        version='1',
        url=address,
        preferred_transport=binding,
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=['text/plain'],
        default_output_modes=['text/plain'],
        skills=[],
        security_schemes=None if KEY is None else {'key': scheme},
        security=None if KEY is None else [{'key': []}],
    )


async def serve_grpc(handler, card, port, card_port):
    server = grpc.aio.server(interceptors=[GrpcGuard()])
    add_A2AServiceServicer_to_server(GrpcHandler(card, handler), server)
    server.add_insecure_port(f'127.0.0.1:{port}')
    await server.start()
    await server_of(A2AStarletteApplication(card, handler).build(rpc_url='/rpc'), card_port).serve()


def serve(binding, port, card_port, address):
    card = card_at(address, binding)
    configs = InMemoryPushNotificationConfigStore()
    sender = BasePushNotificationSender(httpx.AsyncClient(), configs)
    handler = DefaultRequestHandler(Talker(), InMemoryTaskStore(), push_config_store=configs, push_sender=sender)
    if binding == 'GRPC':
        return asyncio.run(serve_grpc(handler, card, port, card_port))
    served = A2AStarletteApplication if binding == 'JSONRPC' else A2ARESTFastAPIApplication
    serve_app(served(card, handler).build(), port)
