#!/usr/bin/env bash
# beeai-framework 0.1.85 has one abort signal for all Tasks of its A2A server, and never resets it: after one tasks/cancel,
# every later Message to the agent fails with "Action has been aborted" until the server is restarted.
# Exits with 1 if the package behaves differently. Needs Python 3.11 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'beeai-framework[a2a]==0.1.85' a2a-sdk==0.3.26
cat > try.py <<'END'
import asyncio
import logging
import sys
from importlib.metadata import version

from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import Message, MessageSendParams, Part, Role, TextPart
from beeai_framework.adapters.a2a.serve.executors.base_a2a_executor import BaseA2AExecutor
from beeai_framework.backend import AssistantMessage
from beeai_framework.emitter import Emitter
from beeai_framework.runnable import Runnable, RunnableOutput, runnable_entry
from beeai_framework.serve.utils import UnlimitedMemoryManager

logging.disable(logging.CRITICAL)


class Greeter(Runnable[RunnableOutput]):
    @property
    def emitter(self):
        return Emitter.root().child(namespace=['greeter'])

    @runnable_entry
    async def run(self, input, /, **options):
        # The agents and models of the package do this before each step.
        options['signal'].throw_if_aborted()
        return RunnableOutput(output=[AssistantMessage('good day')])


async def main():
    executor = BaseA2AExecutor(Greeter(), None, memory_manager=UnlimitedMemoryManager())
    handler = DefaultRequestHandler(agent_executor=executor, task_store=InMemoryTaskStore())

    async def greet(number):
        parts = [Part(root=TextPart(text='hello'))]
        said = Message(message_id=f'm{number}', role=Role.user, parts=parts)
        answer = await handler.on_message_send(MessageSendParams(message=said))
        return answer.parts[0].root.text

    before = await greet(1)
    # The request handler of the SDK calls this for tasks/cancel of any Task.
    await executor.cancel(None, EventQueue())
    after = await greet(2)
    print(f'beeai-framework {version("beeai-framework")}')
    print('expected: a canceled Task ends, and later Messages are answered')
    print(f'observed: "{before}" before tasks/cancel, "{after}" for a new Message after it')
    return 0 if before == 'good day' and 'aborted' in after else 1


sys.exit(asyncio.run(main()))
END
timeout 120 venv/bin/python try.py
