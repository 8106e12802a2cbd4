/** Checks of `npm run real`: what agents do with a real model. Each prints what it has seen, or throws. */
import { continueRun, getRun, runWorkflow, saveWorkflow } from '../demo/parley-api.mjs';
import { collect, expect, oneAgent, readUntil, request, resultOf } from './parley-calls.mjs';

const WITHIN_MS = 240_000;
/** Time within which the server must stop to generate after a cancel. */
const STOPS_WITHIN_MS = 20_000;
/** Time within which the server must begin to generate an answer. */
const STARTS_WITHIN_MS = 60_000;

/** A small model asked for one sentence often writes on. */
const SENTENCE_ENDS = ['. ', '! ', '? ', '\n'];
const GARDENER = {
  system_prompt: 'You are a gardener who likes vegetables. Answer in one sentence.',
  stop: SENTENCE_ENDS,
};
const COOK = { system_prompt: 'You are a cook who likes soup. Answer in one sentence.', stop: SENTENCE_ENDS };
/** Schema of an answer that takes some seconds, and ends. */
const LONG = {
  type: 'object',
  properties: { islands: { type: 'array', minItems: 30, maxItems: 30, items: { type: 'string', maxLength: 60 } } },
  required: ['islands'],
  additionalProperties: false,
};
const CONTACT = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: 40 },
    city: { type: 'string', maxLength: 40 },
    visitors: { type: 'integer' },
  },
  required: ['name', 'city', 'visitors'],
  additionalProperties: false,
};

/** Checks by their names, in the order in which they run. */
export const CHECKS = {
  output: { what: 'an agent answers with JSON that fits a schema', check: checkOutput },
  conversation: { what: 'two agents hold a conversation', check: checkConversation },
  brainstorm: { what: 'three agents hold a brainstorm that ends with a plan', check: checkBrainstorm },
  tools: { what: 'an agent calls a tool, and answers with its result', check: checkTools },
  cancel: { what: 'a cancel ends the work of the model server', check: checkCancel },
  crash: { what: 'a run survives a kill of Parley and completes', check: checkCrash },
};

async function run(url, workflow, task) {
  await saveWorkflow(url, workflow);
  const events = await collect(runWorkflow(url, workflow.name, { task }));
  return { events, run: await getRun(url, events.at(-1).runId) };
}

async function checkOutput({ url, say }) {
  const task = 'Ada Lovelace lives in London. She expects 12 visitors.';
  const ended = await run(url, oneAgent('contact', { output: CONTACT }), task);
  const [{ data: given, text }] = resultOf(ended.run);
  const data = given ?? JSON.parse(text);
  say(`${task} → ${JSON.stringify(data)}`);
  expect(typeof data?.name === 'string' && typeof data.city === 'string', 'The texts are missing', data);
  expect(Number.isInteger(data.visitors), 'The number is missing', data);
}

async function saveTalkers(url) {
  await saveWorkflow(url, oneAgent('gardener', GARDENER));
  await saveWorkflow(url, oneAgent('cook', COOK));
}

async function checkConversation({ url, say }) {
  await saveTalkers(url);
  const body = { requester: 'gardener', target: 'cook', message: 'What shall we make of ten pumpkins?', maxTurns: 3 };
  const { conversationId } = await request(`${url}/api/conversations`, 'POST', body);
  const what = 'The end of the conversation';
  const read = () => request(`${url}/api/conversations/${conversationId}`);
  const ended = await readUntil(read, ({ status }) => status === 'complete', { what, within: WITHIN_MS });
  for (const { turn, fromAgent, text } of ended.turns) say(`${turn} ${fromAgent}: ${text}`);
  expect(ended.error === undefined, 'The conversation failed', ended.error);
  const speakers = new Set(ended.turns.map(({ fromAgent }) => fromAgent));
  expect(speakers.size === 2, 'Only one agent has spoken', [...speakers]);
  expect(
    ended.turns.every(({ text }) => text.trim() !== ''),
    'A turn has no text',
    ended.turns,
  );
}

async function checkBrainstorm({ url, reviewer, say }) {
  await saveTalkers(url);
  const agents = [
    { agent: 'workflows/gardener/nodes/gardener', role: 'build' },
    { agent: reviewer, role: 'review' },
    { agent: 'workflows/cook/nodes/cook', role: 'refine' },
  ];
  const body = { idea: 'A shared calendar for a garden', agents, maxIterations: 1 };
  const { brainstormId } = await request(`${url}/api/brainstorms`, 'POST', body);
  const read = () => request(`${url}/api/brainstorms/${brainstormId}`);
  const what = 'The end of the brainstorm';
  const ended = await readUntil(read, ({ status }) => status !== 'active', { what, within: WITHIN_MS });
  for (const pass of ended.passes)
    for (const { role, status, error } of pass.agents) say(`${role}: ${status}${error ? ` (${error})` : ''}`);
  say(`${ended.status}: ${ended.convergence ?? ended.error?.message ?? ''}`);
  for (const { title, description } of ended.state.execution_plan) say(`plan: ${title}: ${description}`);
  expect(ended.error === undefined, 'The brainstorm failed', ended.error);
  expect(ended.state.execution_plan.length > 0, 'The plan is empty', ended.state);
}

async function checkTools({ url, say }) {
  const system = 'Use the tool calculator to calculate. Then answer with its result.';
  const agent = { system_prompt: system, tools: ['calculator'], maxSteps: 4 };
  const ended = await run(url, oneAgent('sums', agent), 'How much is 250 plus 125?');
  for (const { type, payload } of ended.events)
    if (type === 'tool.call' || type === 'tool.result') say(`${type} ${JSON.stringify(payload)}`);
  const results = ended.events.filter(({ type }) => type === 'tool.result');
  const text = resultOf(ended.run)
    .map((part) => part.text)
    .join(' ');
  say(`answer: ${text}`);
  expect(
    results.length > 0,
    'No tool was called',
    ended.events.map(({ type }) => type),
  );
  const numbers = results.map(({ payload }) => String(payload.result));
  expect(
    numbers.some((number) => text.includes(number)),
    'The answer has no result of a tool',
    { numbers, text },
  );
}

/**
 * Starts a run whose answer takes the server some seconds, and leaves its stream while the server generates it.
 * @returns the last event that was read, and the answer as the server had it then
 */
async function startLongAnswer({ url, model }) {
  const workflow = oneAgent('author', { system_prompt: 'You write about islands.', output: LONG });
  await saveWorkflow(url, workflow);
  for await (const event of runWorkflow(url, workflow.name, { task: 'Tell of a journey to many islands.' })) {
    if (event.type !== 'model.request') continue;
    const isGenerating = ({ isProcessing, tokens }) => isProcessing && tokens > 0;
    const limits = { what: 'The start of the generation', within: STARTS_WITHIN_MS };
    return { event, ...(await readUntil(() => model.readSlot(), isGenerating, limits)) };
  }
  throw new Error('The run called no model');
}

async function checkCancel({ url, model, say }) {
  const { event, tokens } = await startLongAnswer({ url, model });
  say(`the server generates: ${tokens} tokens so far`);
  const began = performance.now();
  await request(`${url}/api/runs/${event.runId}/cancel`, 'POST');
  const what = 'The end of the generation';
  const limits = { what, within: STOPS_WITHIN_MS };
  await readUntil(
    () => model.readSlot(),
    ({ isProcessing }) => !isProcessing,
    limits,
  );
  const ms = Math.round(performance.now() - began);
  const read = () => getRun(url, event.runId);
  const isEnded = ({ status }) => !['submitted', 'working', 'running'].includes(status);
  const { status } = await readUntil(read, isEnded, { what: 'The end of the run', within: WITHIN_MS });
  say(`${status}; the server was idle ${ms} ms after the cancel`);
  expect(status === 'canceled', 'The run was not canceled', status);
}

async function checkCrash({ url, model, killAndRestart, say }) {
  const { event, tokens, task } = await startLongAnswer({ url, model });
  say(`kill -9 while the server generates (${tokens} tokens so far)`);
  say(`Parley is back after ${((await killAndRestart()) / 1000).toFixed(1)} s`);
  await collect(continueRun(url, event));
  const ended = await getRun(url, event.runId);
  const text = resultOf(ended)
    .map((part) => part.text)
    .join(' ');
  say(`${ended.status}: ${text.slice(0, 80)}…`);
  expect(JSON.parse(text).islands.length === 30, 'The result is not whole', ended.result);
  const newest = await model.readSlot();
  expect(newest.task !== task, 'The model was not called again', newest);
}
