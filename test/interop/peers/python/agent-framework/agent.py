"""Agent of Microsoft's Agent Framework, on the server of the SDK of A2A 1.0."""

from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentInterface
from agent_framework import Agent
from agent_framework.openai import OpenAIChatCompletionClient
from agent_framework_a2a import A2AExecutor
from fake_openai import start_model
from serving import serve_app
from starlette.applications import Starlette


def serve(binding, port, card_port, address):
    client = OpenAIChatCompletionClient(model='fake', base_url=start_model(), api_key='none')
    agent = Agent(client=client, name='talker', description='Talks')
    at = AgentInterface(url=address, protocol_binding=binding, protocol_version='1.0')
    offers = AgentCapabilities(streaming=True)
    card = AgentCard(name='talker', description='Talks', version='1', supported_interfaces=[at], capabilities=offers)
    handler = DefaultRequestHandler(A2AExecutor(agent, stream=True), InMemoryTaskStore(), card)
    calls = create_jsonrpc_routes(handler, '/') if binding == 'JSONRPC' else create_rest_routes(handler)
    serve_app(Starlette(routes=[*create_agent_card_routes(card), *calls]), port)
