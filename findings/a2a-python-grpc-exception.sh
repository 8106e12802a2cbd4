#!/usr/bin/env bash
# The gRPC server of a2a-sdk (Python) reports an agent's exception as UNKNOWN, which its JSON-RPC server reports as an internal error.
# Exits with 1 if the package behaves differently. Needs Python 3.10 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'a2a-sdk[grpc,http-server]==1.3.0'
cat > try.py <<'END'
import asyncio
import logging
import sys
from importlib.metadata import version

import grpc
import httpx
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, SendMessageRequest, a2a_pb2_grpc
from google.protobuf.json_format import ParseDict
from starlette.applications import Starlette

logging.disable(logging.CRITICAL)
PARAMS = {'message': {'messageId': 'm', 'role': 'ROLE_USER', 'parts': [{'text': 'a cake'}]}}


class Failing(AgentExecutor):
    async def execute(self, context, event_queue):
        raise RuntimeError('the oven is cold')

    async def cancel(self, context, event_queue):
        pass


async def over_grpc(handler):
    server = grpc.aio.server()
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(handler), server)
    port = server.add_insecure_port('127.0.0.1:0')
    await server.start()
    async with grpc.aio.insecure_channel(f'127.0.0.1:{port}') as channel:
        try:
            await a2a_pb2_grpc.A2AServiceStub(channel).SendMessage(ParseDict(PARAMS, SendMessageRequest()))
            return 'no error'
        except grpc.aio.AioRpcError as error:
            return f'{error.code().name}: {error.details()}'
        finally:
            await server.stop(None)


async def over_json_rpc(handler):
    app = Starlette(routes=create_jsonrpc_routes(request_handler=handler, rpc_url='/'))
    body = {'jsonrpc': '2.0', 'id': 1, 'method': 'SendMessage', 'params': PARAMS}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url='http://agent') as client:
        error = (await client.post('/', json=body, headers={'A2A-Version': '1.0'})).json()['error']
    return f'{error["code"]}: {error["message"]}'


async def main():
    card = AgentCard(
        name='baker', description='Bakes', version='1.0.0', capabilities=AgentCapabilities(),
        supported_interfaces=[AgentInterface(url='http://agent/', protocol_binding='JSONRPC', protocol_version='1.0')],
        default_input_modes=['text/plain'], default_output_modes=['text/plain'],
        skills=[AgentSkill(id='bake', name='bake', description='Bakes', tags=['cake'])],
    )
    handler = DefaultRequestHandler(agent_executor=Failing(), agent_card=card, task_store=InMemoryTaskStore())
    seen = [await over_grpc(handler), await over_json_rpc(handler)]
    print(f'a2a-sdk {version("a2a-sdk")}')
    print('expected: INTERNAL over gRPC, as -32603 (internal error) over JSON-RPC')
    print(f'observed: "{seen[0]}" over gRPC, "{seen[1]}" over JSON-RPC')
    return 0 if seen[0].startswith('UNKNOWN: Unexpected') and seen[1].startswith('-32603') else 1


sys.exit(asyncio.run(main()))
END
venv/bin/python try.py
