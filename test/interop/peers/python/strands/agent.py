"""Agent of Strands."""

from fake_openai import start_model
from serving import serve_app
from strands import Agent
from strands.models.openai import OpenAIModel
from strands.multiagent.a2a import A2AServer


def serve(binding, port, card_port, address):
    base = start_model()

    def talker(context_id):
        model = OpenAIModel(client_args={'base_url': base, 'api_key': 'none', 'max_retries': 0}, model_id='fake')
        return Agent(model=model, name='talker', description='Talks', callback_handler=None)

    server = A2AServer(agent_factory=talker, http_url=address, enable_a2a_compliant_streaming=True)
    serve_app(server.to_starlette_app(), port)
