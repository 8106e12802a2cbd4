"""Agent of Pydantic AI, served by FastA2A."""

from fake_openai import start_model
from fasta2a.pydantic_ai import agent_to_a2a
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from serving import serve_app


def serve(binding, port, card_port, address):
    provider = OpenAIProvider(base_url=start_model(), api_key='none')
    agent = Agent(OpenAIChatModel('fake', provider=provider), name='talker')
    serve_app(agent_to_a2a(agent, url=address, description='Talks'), port)
