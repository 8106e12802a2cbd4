/** An OpenAI-compatible endpoint that looks up a tool's result once, and then answers: always the same. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const CALL = { id: 'c1', name: 'calculator', arguments: '{"expression":"365 * 24 * 60"}' };
const ANSWER = 'A year has **525,600 minutes**: 365 days of 24 hours, each of 60 minutes.';

/** Starts the endpoint. @returns its base URL, and `stop` */
export async function startRecordedModel() {
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${server.address().port}/v1`, stop };
}

async function answer(request, response) {
  const { messages = [], model } = JSON.parse((await text(request)) || '{}');
  const isLookedUp = messages.some(({ role }) => role === 'tool');
  const { id, ...call } = CALL;
  const delta = isLookedUp
    ? { role: 'assistant', content: ANSWER }
    : { role: 'assistant', content: null, tool_calls: [{ index: 0, id, type: 'function', function: call }] };
  const usage = isLookedUp
    ? { prompt_tokens: 164, completion_tokens: 27, total_tokens: 191 }
    : { prompt_tokens: 118, completion_tokens: 19, total_tokens: 137 };
  const send = (fields) =>
    response.write(
      `data: ${JSON.stringify({ id: 'r', object: 'chat.completion.chunk', created: 1, model, ...fields })}\n\n`,
    );
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  send({ choices: [{ index: 0, delta, finish_reason: null }] });
  send({ choices: [{ index: 0, delta: {}, finish_reason: isLookedUp ? 'stop' : 'tool_calls' }] });
  send({ choices: [], usage });
  response.end('data: [DONE]\n\n');
}
