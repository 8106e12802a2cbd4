"""Agent on ADK, with a model without a network."""

from urllib.parse import urlsplit

from fake_words import words_in
from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.genai.types import Content, Part
from serving import serve_app
from words import pieces_of


class FakeModel(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        users = [it for it in llm_request.contents if it.role == 'user']
        *earlier, text = [words_in([part.text for part in it.parts if part.text]) for it in users]
        if text == 'echo':
            text = f'got {users[-1].model_dump_json(exclude_none=True)}'
        pieces = []
        async for piece in pieces_of(text, earlier):
            pieces.append(piece)
            if stream:
                yield LlmResponse(content=Content(role='model', parts=[Part(text=piece)]), partial=True)
        yield LlmResponse(content=Content(role='model', parts=[Part(text=''.join(pieces))]), partial=False)


def serve(binding, port, card_port, address):
    agent = LlmAgent(name='talker', model=FakeModel(model='fake'), description='Talks', instruction='Talk.')
    at = urlsplit(address)
    serve_app(to_a2a(agent, host=at.hostname, port=at.port), port)
