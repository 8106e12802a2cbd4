import { randomUUID } from 'node:crypto';

/** Maximum milliseconds of one answer. */
const LIMIT = 180_000;

/**
 * Sends a service the requests that most tests send, so that their code is compiled. Answers are not checked here.
 * @param {string} url base URL of the service
 */
export async function askTheUsual(url) {
  const ask = async (method, path, body) => {
    const type = body !== undefined && { 'content-type': 'application/json' };
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { 'a2a-version': '1.0', ...type },
      signal: AbortSignal.timeout(LIMIT),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return answer.text();
  };
  try {
    await manage(ask, url);
    await talk(ask);
    for (const path of ['/', '/metrics', '/health/ready', '/health/live', '/nothing']) await ask('GET', path);
  } catch {
    // The less is compiled.
  }
}

async function manage(ask, url) {
  const workflow = usualWorkflow(url);
  await ask('POST', '/api/workflows', workflow);
  await ask('POST', '/api/workflows', { name: 'asking', nodes: [script('asks', { ask: 'Which?' })], edges: [] });
  await ask('PUT', '/api/workflows/usual', workflow);
  await ask('POST', '/api/workflows/check', workflow);
  await ask('POST', '/api/workflows', { name: 'usual' });
  for (const path of ['/workflows', '/workflows/usual', '/runs', '/runs/none']) await ask('GET', `/api${path}`);
  await ask('POST', '/api/workflows/usual/run', { inputs: { in: 'x' } });
  const { runId } = JSON.parse(await ask('POST', '/api/workflows/usual/runs', { inputs: { in: 'x' } }));
  await ask('GET', `/api/runs/${runId}/events`);
  await ask('GET', `/api/runs/${runId}`);
}

async function talk(ask) {
  const says = '/a2a/workflows/usual/nodes/says';
  const rpc = (path, method, params) => ask('POST', path, { jsonrpc: '2.0', id: 1, method, params });
  const message = (more) => ({
    message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }], ...more },
  });
  await ask('GET', '/.well-known/agent-card.json');
  await ask('GET', '/a2a/agents');
  await rpc(says, 'SendStreamingMessage', message());
  await ask('POST', `${says}/message:send`, message());
  await ask('POST', `${says}/message:stream`, message());
  await ask('GET', `${says}/tasks`);
  const asked = JSON.parse(await rpc('/a2a/workflows/asking/nodes/asks', 'SendMessage', message()));
  const { id } = asked.result.task;
  for (const method of ['GetTask', 'ListTasks', 'SubscribeToTask', 'Nothing']) await rpc(says, method, { id: 'none' });
  await rpc('/a2a', 'GetTask', { id });
  await rpc('/a2a/workflows/asking/nodes/asks', 'SendMessage', message({ taskId: id }));
  await rpc('/a2a', 'CancelTask', { id });
}

const script = (id, ...otherwise) => ({ id, type: 'script', config: { script: { rules: [], otherwise } } });

/** Creates a workflow with a node that calls another node as a remote agent. */
function usualWorkflow(url) {
  const steps = [{ status: 'working' }, { artifact: { parts: [{ text: 'said' }] } }, { complete: 'done' }];
  const far = { endpoint_url: `${url}/a2a/workflows/usual/nodes/says`, prompt: '{{in}}' };
  return {
    name: 'usual',
    nodes: [
      { id: 'in', type: 'input' },
      script('says', ...steps),
      { id: 'echo', type: 'agent', config: { prompt: '{{says}}' } },
      { id: 'far', type: 'external', config: far },
      { id: 'out', type: 'output', config: { prompt: '{{echo}} {{far}}' } },
    ],
    edges: [
      { from: 'in', to: 'says' },
      { from: 'says', to: 'echo' },
      { from: 'says', to: 'far' },
      { from: 'echo', to: 'out' },
      { from: 'far', to: 'out' },
    ],
  };
}
