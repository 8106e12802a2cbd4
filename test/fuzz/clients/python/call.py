"""Calls the API with the client that openapi-python-client makes of the OpenAPI document."""

import json
import sys
import time

from parley_api import Client
from parley_api.api.runs import get_run, start_run
from parley_api.api.workflows import create_workflow, list_workflows
from parley_api.models import RunBody, WorkflowBody

url, definition = sys.argv[1:]
with Client(base_url=url, raise_on_unexpected_status=True) as client:
    workflow = WorkflowBody.from_dict(json.loads(definition))
    created = create_workflow.sync_detailed(client=client, body=workflow)
    assert created.status_code == 201, created.content
    refused = create_workflow.sync(client=client, body=workflow)
    listed = list_workflows.sync(client=client)
    body = RunBody.from_dict({"inputs": {"in": "tea"}})
    started = start_run.sync(workflow.name, client=client, body=body)
    until = time.monotonic() + 120
    while True:
        run = get_run.sync(started.run_id, client=client)
        if run.status.value != "running" or time.monotonic() > until:
            break
        time.sleep(0.02)
    names = [it.name for it in listed]
    print(refused.reason, "true" if workflow.name in names else "false", run.status.value)
