"""Client of Microsoft's Agent Framework: a remote agent."""

import json
import os

import httpx
from agent_framework_a2a import A2AAgent

KEY = os.environ.get('PEER_KEY')


async def call(base, binding, operation, texts):
    http = httpx.AsyncClient(headers={'x-api-key': KEY} if KEY else None, timeout=None)
    async with A2AAgent(name='remote', url=base, http_client=http) as agent:
        session = agent.create_session()
        for text in texts:
            async for update in agent.run(text, stream=True, session=session):
                print(json.dumps(update.to_dict(), default=str), flush=True)
