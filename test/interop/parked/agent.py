"""Agent that works until a file is there, and calls webhooks. Arguments: its port, and the path of the file."""

import asyncio
import sys
from pathlib import Path

import httpx
import uvicorn
from a2a.helpers import new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import AgentCapabilities, AgentCard, AgentInterface
from starlette.applications import Starlette

PORT, RELEASE = int(sys.argv[1]), Path(sys.argv[2])


class Worker(AgentExecutor):
    async def execute(self, context, event_queue):
        task = new_task_from_user_message(context.message)
        task.id, task.context_id = context.task_id, context.context_id
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work()
        await updater.add_artifact([new_text_part('begun')], artifact_id='work', last_chunk=False)
        while not RELEASE.exists():
            await asyncio.sleep(0.05)
        await updater.add_artifact([new_text_part('done')], artifact_id='work', append=True, last_chunk=True)
        await updater.complete()

    async def cancel(self, context, event_queue):
        raise NotImplementedError


url = AgentInterface(url=f'http://127.0.0.1:{PORT}/', protocol_binding='JSONRPC', protocol_version='1.0')
offers = AgentCapabilities(streaming=True, push_notifications=True)
card = AgentCard(name='worker', supported_interfaces=[url], capabilities=offers)
configs = InMemoryPushNotificationConfigStore()
sender = BasePushNotificationSender(httpx.AsyncClient(), configs)
handler = DefaultRequestHandler(
    Worker(), InMemoryTaskStore(), card, push_config_store=configs, push_sender=sender
)
app = Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, '/')])
uvicorn.run(app, port=PORT)
