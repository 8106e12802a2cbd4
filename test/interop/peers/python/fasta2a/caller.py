"""Client of FastA2A."""

import json
import os
import uuid

import httpx
from fasta2a.client import A2AClient

KEY = os.environ.get('PEER_KEY')


async def call(base, binding, operation, texts):
    http = httpx.AsyncClient(headers={'x-api-key': KEY} if KEY else None, timeout=None)
    client = A2AClient(base, http_client=http)
    if operation == 'error':
        return print(json.dumps(await client.get_task('none')), flush=True)
    fields = {}
    for text in texts:
        said = {'role': 'user', 'message_id': str(uuid.uuid4()), 'parts': [{'text': text}], **fields}
        if operation == 'stream':
            async for event in client.stream_message(said):
                print(json.dumps(event), flush=True)
            continue
        answer = await client.send_message(said)
        print(json.dumps(answer), flush=True)
        task = answer.get('result', {}).get('task', answer.get('result', {}))
        fields = {'context_id': task.get('context_id')}
