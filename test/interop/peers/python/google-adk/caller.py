"""Client of ADK: a remote agent that a runner calls."""

import json
import os

import httpx
from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
from google.adk.runners import InMemoryRunner
from google.genai.types import Content, Part

KEY = os.environ.get('PEER_KEY')


async def call(base, binding, operation, texts):
    http = httpx.AsyncClient(headers={'x-api-key': KEY} if KEY else None, timeout=None)
    agent = RemoteA2aAgent(name='remote', agent_card=f'{base}.well-known/agent-card.json', httpx_client=http)
    runner = InMemoryRunner(agent=agent, app_name='peer')
    session = await runner.session_service.create_session(app_name='peer', user_id='ann')
    for text in texts:
        said = Content(role='user', parts=[Part(text=text)])
        async for event in runner.run_async(user_id='ann', session_id=session.id, new_message=said):
            print(json.dumps(event.model_dump(mode='json', exclude_none=True)), flush=True)
