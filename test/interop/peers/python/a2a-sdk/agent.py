"""Agent on the SDK of A2A 1.0."""

import asyncio

import grpc
import httpx
from a2a.helpers import new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    APIKeySecurityScheme,
    ClientCredentialsOAuthFlow,
    OAuth2SecurityScheme,
    OAuthFlows,
    SecurityScheme,
)
from a2a.types.a2a_pb2_grpc import add_A2AServiceServicer_to_server
from grpc_keys import GrpcGuard
from serving import KEY, KEY_HEADER, TOKENS, serve_app, server_of
from starlette.applications import Starlette
from words import pieces_of


class Talker(AgentExecutor):
    async def execute(self, context, event_queue):
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        text = context.get_user_input()
        if context.current_task is not None:
            await updater.add_artifact([new_text_part(f'[{text}]')])
            return await updater.complete()
        task = new_task_from_user_message(context.message)
        task.id, task.context_id = context.task_id, context.context_id
        await event_queue.enqueue_event(task)
        await updater.start_work()
        if text == 'ask':
            await updater.requires_input(updater.new_agent_message([new_text_part('Which tea?')]))
        elif text == 'fail':
            await updater.failed(updater.new_agent_message([new_text_part('no tea left')]))
        elif text == 'context':
            await updater.add_artifact([new_text_part(context.context_id)])
            await updater.complete()
        elif text == 'echo':
            await updater.add_artifact([part for part in context.message.parts if not part.HasField('text')])
            await updater.complete()
        else:
            await self.say(updater, text)

    async def say(self, updater, text):
        appends = False
        async for piece in pieces_of(text):
            await updater.add_artifact([new_text_part(piece)], artifact_id='answer', append=appends, last_chunk=appends)
            appends = True
        await updater.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def card_at(address, binding):
    at = AgentInterface(url=address, protocol_binding=binding, protocol_version='1.0')
    offers = AgentCapabilities(streaming=True, push_notifications=True)
    card = AgentCard(name='talker', description='Talks', version='1', supported_interfaces=[at], capabilities=offers)
    card.default_input_modes.append('text/plain')
    card.default_output_modes.append('text/plain')
    if KEY is not None:
        scheme = APIKeySecurityScheme(location='header', name=KEY_HEADER)
        card.security_schemes['key'].CopyFrom(SecurityScheme(api_key_security_scheme=scheme))
        card.security_requirements.add().schemes['key'].SetInParent()
    if TOKENS is not None:
        flow = ClientCredentialsOAuthFlow(token_url=TOKENS)
        scheme = OAuth2SecurityScheme(flows=OAuthFlows(client_credentials=flow))
        card.security_schemes['tokens'].CopyFrom(SecurityScheme(oauth2_security_scheme=scheme))
        card.security_requirements.add().schemes['tokens'].SetInParent()
    return card


async def serve_grpc(handler, card, port, card_port):
    server = grpc.aio.server(interceptors=[GrpcGuard()])
    add_A2AServiceServicer_to_server(GrpcHandler(handler), server)
    server.add_insecure_port(f'127.0.0.1:{port}')
    await server.start()
    await server_of(Starlette(routes=create_agent_card_routes(card)), card_port).serve()


def serve(binding, port, card_port, address):
    card = card_at(address, binding)
    configs = InMemoryPushNotificationConfigStore()
    sender = BasePushNotificationSender(httpx.AsyncClient(), configs)
    handler = DefaultRequestHandler(
        Talker(), InMemoryTaskStore(), card, push_config_store=configs, push_sender=sender
    )
    if binding == 'GRPC':
        return asyncio.run(serve_grpc(handler, card, port, card_port))
    calls = create_jsonrpc_routes(handler, '/') if binding == 'JSONRPC' else create_rest_routes(handler)
    serve_app(Starlette(routes=[*create_agent_card_routes(card), *calls]), port)
