"""Client of Strands: a remote agent."""

import json
import os

import httpx
from a2a.client import ClientConfig
from strands.agent.a2a_agent import A2AAgent

KEY = os.environ.get('PEER_KEY')


async def call(base, binding, operation, texts):
    http = httpx.AsyncClient(headers={'x-api-key': KEY} if KEY else None, timeout=None)
    agent = A2AAgent(base, client_config=ClientConfig(httpx_client=http))
    for text in texts:
        async for event in agent.stream_async(text):
            print(json.dumps(event, default=str), flush=True)
