import type { IncomingMessage, ServerResponse } from 'node:http';

/** Bytes that are not UTF-8: long invalid runs, each before a letter, as many bytes as `http_get` reads. */
const NO_TEXT = Buffer.concat([Buffer.alloc(900_000, 0xff), Buffer.from('a'), Buffer.alloc(100_000, 0xff)]);

/** Prefix of the paths of the attacker's model. The page that it makes an agent read is below it as well. */
export const MODEL = '/model';
const PAGE = `${MODEL}/page`;

interface Completion {
  stream?: boolean;
  messages?: { role: string }[];
}

/** Answers as a model that makes an agent read a page which is no text, and then ends with a text. */
export function answerAsModel({ url, headers }: IncomingMessage, text: string, response: ServerResponse): void {
  if (url === PAGE) return void response.writeHead(200, { 'content-type': 'text/plain' }).end(NO_TEXT);
  const { stream = false, messages = [] } = JSON.parse(text || '{}') as Completion;
  const hasRead = messages.at(-1)?.role === 'tool';
  const args = JSON.stringify({ url: `http://${headers.host}${PAGE}` });
  const call = { index: 0, id: 'call', type: 'function', function: { name: 'http_get', arguments: args } };
  const said = { role: 'assistant', content: hasRead ? 'done' : '', ...(!hasRead && { tool_calls: [call] }) };
  const choice = { index: 0, finish_reason: hasRead ? 'stop' : 'tool_calls' };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const about = { id: 'c', created: 1, model: 'm', usage };
  if (!stream) {
    const completion = { ...about, object: 'chat.completion', choices: [{ ...choice, message: said }] };
    return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(completion));
  }
  const chunk = { ...about, object: 'chat.completion.chunk', choices: [{ ...choice, delta: said }] };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
}
