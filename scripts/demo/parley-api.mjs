/** Calls of Parley's public API by the demo. */

/** Creates a workflow, or replaces the one of the same name. */
export async function saveWorkflow(baseUrl, workflow) {
  const created = await send(`${baseUrl}/api/workflows`, 'POST', workflow);
  if (created.status !== 409) return accept(created, 'The workflow was refused');
  return accept(await send(`${baseUrl}/api/workflows/${workflow.name}`, 'PUT', workflow), 'The workflow was refused');
}

/** Starts a run of a workflow, and yields its events as they arrive, until `done`. */
export async function* runWorkflow(baseUrl, name, inputs) {
  const response = await send(`${baseUrl}/api/workflows/${name}/run`, 'POST', { inputs });
  await accept(response, 'The run was refused');
  yield* untilDone(response);
}

/** Yields the events of a run after a given one as they arrive, until `done`. */
export async function* continueRun(baseUrl, { runId, sequence }) {
  const headers = { 'last-event-id': String(sequence) };
  const response = await fetch(`${baseUrl}/api/runs/${runId}/events`, { headers });
  await accept(response, 'The run cannot be read');
  yield* untilDone(response);
}

/** Returns a run in its current state. */
export async function getRun(baseUrl, runId) {
  const response = await fetch(`${baseUrl}/api/runs/${runId}`);
  await accept(response, 'The run cannot be read');
  return response.json();
}

async function send(url, method, body) {
  return fetch(url, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
}

async function accept(response, what) {
  if (!response.ok) throw new Error(`${what}: HTTP ${response.status} ${await response.text()}`);
}

async function* untilDone(response) {
  for await (const event of eventsOf(response.body)) {
    yield event;
    if (event.type === 'done') return;
  }
  throw new Error('The stream of the run ended before the run did');
}

async function* eventsOf(body) {
  const decoder = new TextDecoder();
  let buffer = '';
  for await (const chunk of body) {
    buffer += decoder.decode(chunk, { stream: true });
    const frames = buffer.split('\n\n');
    buffer = frames.pop();
    for (const frame of frames) {
      const data = frame
        .split('\n')
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).trimStart());
      if (data.length > 0) yield JSON.parse(data.join('\n'));
    }
  }
}
