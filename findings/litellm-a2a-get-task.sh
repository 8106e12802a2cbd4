#!/usr/bin/env bash
# The A2A gateway of LiteLLM 1.108.7 passes GetTask on under its name of 0.3 (tasks/get), also to an agent that is
# configured with protocolVersion 1.0. An agent that speaks 1.0 only, here on a2a-sdk 1.3.0, answers -32601. A Task that
# SendMessage has returned through the gateway can thus be read at the agent, and not through the gateway.
# Exits with 1 if the packages behave differently. Needs Python 3.10 or later, and curl.
set -euo pipefail
folder=$(mktemp -d)
pids=()
trap 'for pid in "${pids[@]}"; do kill "$pid" || true; done; rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check \
  'litellm[proxy]==1.108.7' 'a2a-sdk[http-server]==1.3.0'
free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
agent=$(free_port) gateway=$(free_port)
cat > agent.py <<'END'
import sys

import uvicorn
from a2a.helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface
from starlette.applications import Starlette


class Worker(AgentExecutor):
    async def execute(self, context, event_queue):
        task = new_task_from_user_message(context.message)
        task.id, task.context_id = context.task_id, context.context_id
        await event_queue.enqueue_event(task)
        await TaskUpdater(event_queue, context.task_id, context.context_id).complete()

    async def cancel(self, context, event_queue):
        raise NotImplementedError


port = int(sys.argv[1])
url = AgentInterface(url=f'http://127.0.0.1:{port}/', protocol_binding='JSONRPC', protocol_version='1.0')
card = AgentCard(name='worker', supported_interfaces=[url], capabilities=AgentCapabilities(streaming=True))
handler = DefaultRequestHandler(Worker(), InMemoryTaskStore(), card)
app = Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, '/')])
uvicorn.run(app, port=port, log_level='error')
END
cat > config.yaml <<END
agents:
  - agent_name: worker
    agent_card_params:
      name: worker
      description: Works
      url: http://127.0.0.1:$agent/
      version: "1"
      protocolVersion: "1.0"
      capabilities: {streaming: true}
      defaultInputModes: [text]
      defaultOutputModes: [text]
      skills: []
END
key=sk-finding-5c0d1b7e9a2f4c68
venv/bin/python agent.py "$agent" > agent.log 2>&1 &
pids+=($!)
LITELLM_MASTER_KEY=$key LITELLM_LOCAL_MODEL_COST_MAP=True venv/bin/litellm --config config.yaml --host 127.0.0.1 \
  --port "$gateway" --telemetry False > gateway.log 2>&1 &
pids+=($!)
for _ in $(seq 120); do
  curl -sf "http://127.0.0.1:$gateway/health/liveliness" > health && break
  sleep 1
done
call() {
  curl -s "$1" -H "authorization: Bearer $key" -H 'content-type: application/json' -H 'A2A-Version: 1.0' \
    -d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$2\",\"params\":$3}"
}
through="http://127.0.0.1:$gateway/a2a/worker"
message='{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}'
sent=$(call "$through" SendMessage "$message")
id=$(echo "$sent" | grep -o '"id":"[^"]*"' | head -n 1 | cut -d '"' -f 4)
direct=$(call "http://127.0.0.1:$agent/" GetTask "{\"id\":\"$id\"}")
read_task=$(call "$through" GetTask "{\"id\":\"$id\"}")
echo 'LiteLLM 1.108.7, a2a-sdk 1.3.0'
echo "SendMessage through the gateway: $sent"
echo "GetTask at the agent:            $direct"
echo "GetTask through the gateway:     $read_task"
echo 'expected: the Task, as at the agent'
case "$direct" in *TASK_STATE_COMPLETED*) ;; *) exit 1 ;; esac
case "$read_task" in *'"code":-32601'*) echo 'observed: error -32601 (Method not found)' ;; *) exit 1 ;; esac
