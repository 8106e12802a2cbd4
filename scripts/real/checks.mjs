/** Checks of `npm run real`: what agents do with a real model. Each prints what it has seen, or throws. */
import { continueRun, getRun, runWorkflow, saveWorkflow } from '../demo/parley-api.mjs';
import { endedRun, expect, oneAgent, readUntil, request, resultOf } from './parley-calls.mjs';

/** Time within which a run or a conversation must end. */
const WITHIN_MS = 240_000;
/** Time within which three agents must have answered with whole states. */
const BRAINSTORM_WITHIN_MS = 300_000;
/** Time within which the server must stop to generate after a cancel. */
const STOPS_WITHIN_MS = 20_000;
/** Time within which the server must begin to generate an answer. */
const STARTS_WITHIN_MS = 60_000;

/** A small model asked for one sentence often writes on. */
const SENTENCE_ENDS = ['. ', '! ', '? ', '\n\n'];
const GARDENER = {
  system_prompt: 'You are a gardener who likes vegetables. Answer in one sentence.',
  stop: SENTENCE_ENDS,
};
const COOK = { system_prompt: 'You are a cook who likes soup. Answer in one sentence.', stop: SENTENCE_ENDS };
const ISLANDS = 15;
/** Schema of an answer that takes some seconds, and ends. */
const LONG = {
  type: 'object',
  properties: {
    islands: {
      type: 'array',
      minItems: ISLANDS,
      maxItems: ISLANDS,
      items: { type: 'string', minLength: 40, maxLength: 60 },
    },
  },
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

/**
 * Checks by their names, in the order in which they run. Each judges what Parley promises, whatever the model writes.
 * What a check leaves at work is canceled after it, so that the next check has the model to itself.
 */
export const CHECKS = {
  output: { what: 'an agent answers with JSON that fits a schema', check: checkOutput },
  conversation: { what: 'two agents hold a conversation', check: checkConversation },
  brainstorm: { what: 'three agents hold a brainstorm that ends with a plan', check: checkBrainstorm },
  tools: { what: 'an agent calls a tool, and answers with its result', check: checkTools },
  cancel: { what: 'a cancel ends the work of the model server', check: checkCancel },
  crash: { what: 'a run survives a kill of Parley and completes', check: checkCrash },
};

async function run({ url, afterwards }, workflow, task) {
  await saveWorkflow(url, workflow);
  const started = runWorkflow(url, workflow.name, { task });
  return endedRun(url, started, { what: `The end of the run of ${workflow.name}`, within: WITHIN_MS, afterwards });
}

async function checkOutput({ say, ...services }) {
  const task = 'Ada Lovelace lives in London. She expects 12 visitors.';
  const ended = await run(services, oneAgent('contact', { output: CONTACT }), task);
  const data = dataOf(ended.run);
  say(`${task} → ${JSON.stringify(data)}`);
  expect(typeof data?.name === 'string' && typeof data.city === 'string', 'The texts are missing', data);
  expect(Number.isInteger(data.visitors), 'The number is missing', data);
}

/** Returns the data of a result of one Part, which may be the text of the JSON. */
function dataOf(run) {
  const [{ data, text }] = resultOf(run);
  return data ?? JSON.parse(text);
}

async function checkConversation({ url, say, afterwards }) {
  await saveWorkflow(url, oneAgent('gardener', GARDENER));
  await saveWorkflow(url, oneAgent('cook', COOK));
  const body = { requester: 'gardener', target: 'cook', message: 'What shall we make of ten pumpkins?', maxTurns: 3 };
  const { conversationId } = await request(`${url}/api/conversations`, 'POST', body);
  const conversation = `${url}/api/conversations/${conversationId}`;
  afterwards(() => request(`${conversation}/cancel`, 'POST'));
  const limits = { what: 'The end of the conversation', within: WITHIN_MS };
  const ended = await readUntil(
    () => request(conversation),
    ({ status }) => status === 'complete',
    limits,
  );
  for (const { turn, fromAgent, text } of ended.turns) say(`${turn} ${fromAgent}: ${text}`);
  expect(ended.error === undefined, 'The conversation failed', ended.error);
  const speakers = ended.turns.map(({ fromAgent }) => fromAgent);
  const isInTurn = speakers.every((speaker, turn) => speaker !== speakers[turn - 1]);
  expect(new Set(speakers).size === 2 && isInTurn, 'The agents did not speak in turn', speakers);
}

/** Saves the agents that build and refine. Their answers are whole states, so nothing ends them early. */
async function saveThinkers(url) {
  for (const [name, does] of [
    ['builder', 'plan'],
    ['refiner', 'improve plans'],
  ])
    await saveWorkflow(url, oneAgent(name, { system_prompt: `You ${does} in short, plain sentences.` }));
}

async function checkBrainstorm({ url, reviewer, say, afterwards }) {
  await saveThinkers(url);
  const agents = [
    { agent: 'workflows/builder/nodes/builder', role: 'build' },
    { agent: reviewer, role: 'review' },
    { agent: 'workflows/refiner/nodes/refiner', role: 'refine' },
  ];
  const body = { idea: 'A shared calendar for a garden', agents, maxIterations: 1 };
  const { brainstormId } = await request(`${url}/api/brainstorms`, 'POST', body);
  const brainstorm = `${url}/api/brainstorms/${brainstormId}`;
  // A brainstorm that is left alone keeps the only model from all other checks.
  afterwards(() => request(`${brainstorm}/cancel`, 'POST'));
  const limits = { what: 'The end of the brainstorm', within: BRAINSTORM_WITHIN_MS };
  const ended = await readUntil(
    () => request(brainstorm),
    ({ status }) => status !== 'active',
    limits,
  );
  for (const pass of ended.passes)
    for (const { role, status, error } of pass.agents) say(`${role}: ${status}${error ? ` (${error})` : ''}`);
  say(`${ended.status}: ${ended.convergence ?? ended.error?.message ?? ''}`);
  for (const { title, description } of ended.state.execution_plan) say(`plan: ${title}: ${description}`);
  expect(ended.error === undefined, 'The brainstorm failed', ended.error);
  expect(ended.state.execution_plan.length > 0, 'The plan is empty', ended.state);
}

async function checkTools({ url, say, ...others }) {
  const system = [
    'Use the tool calculator to calculate. Then answer with its result.',
    'If you are asked "How much is 2 plus 3?", write {"tool":"calculator","arguments":{"expression":"2 + 3"}}.',
  ].join('\n');
  const agent = { system_prompt: system, tools: ['calculator'], maxSteps: 4 };
  const ended = await run({ url, ...others }, oneAgent('sums', agent), 'How much is 250 plus 125?');
  const notes = ended.events.filter(({ type }) => /^(model\.request|tool\.)/.test(type));
  for (const { type, payload } of notes) if (type !== 'model.request') say(`${type} ${JSON.stringify(payload)}`);
  say(`answer: ${textOf(ended.run)}`);
  const types = notes.map(({ type }) => type);
  const first = types.indexOf('tool.call');
  expect(first > types.indexOf('model.request'), 'The model called no tool', types);
  expect(types.indexOf('tool.result') > first, 'The tool has no result', types);
  expect(types.lastIndexOf('model.request') > types.indexOf('tool.result'), 'The model was not asked again', types);
  await expectResultAsked(url, ended.run, notes);
}

/** Checks that the model was sent the result of the first tool call in a later call. */
async function expectResultAsked(url, { nodes }, notes) {
  const { payload } = notes.find(({ type }) => type === 'tool.result');
  const prompts = `${url}/api/tasks/${nodes.sums.taskId}/prompts`;
  const { calls } = await request(prompts);
  const { sent } = await request(`${prompts}/${calls.at(-1).call}`);
  const result = payload.result ?? payload.error;
  // A text may stand inside a longer one, so it is compared without its quotes.
  const shown = typeof result === 'string' ? JSON.stringify(result).slice(1, -1) : JSON.stringify(result);
  expect(JSON.stringify(sent.messages).includes(shown), `The model was not sent ${shown}`, sent.messages);
}

function textOf(run) {
  return resultOf(run)
    .map((part) => part.text ?? JSON.stringify(part.data))
    .join(' ');
}

/**
 * Starts a run whose answer takes the server some seconds, and leaves its stream while the server generates it.
 * @returns the last event that was read, and the answer as the server had it then
 */
async function startLongAnswer({ url, model, afterwards }) {
  const workflow = oneAgent('author', { system_prompt: 'You write about islands.', output: LONG });
  await saveWorkflow(url, workflow);
  for await (const event of runWorkflow(url, workflow.name, { task: 'Tell of a journey to many islands.' })) {
    afterwards(() => request(`${url}/api/runs/${event.runId}/cancel`, 'POST'));
    if (event.type !== 'model.request') continue;
    const isGenerating = ({ isProcessing, tokens }) => isProcessing && tokens > 0;
    const limits = { what: 'The start of the generation', within: STARTS_WITHIN_MS };
    return { event, ...(await readUntil(() => model.readSlot(), isGenerating, limits)) };
  }
  throw new Error('The run called no model');
}

async function checkCancel({ url, model, say, afterwards }) {
  const { event, tokens } = await startLongAnswer({ url, model, afterwards });
  say(`the server generates: ${tokens} tokens so far`);
  const began = performance.now();
  await request(`${url}/api/runs/${event.runId}/cancel`, 'POST');
  const limits = { what: 'The end of the generation', within: STOPS_WITHIN_MS };
  await readUntil(
    () => model.readSlot(),
    ({ isProcessing }) => !isProcessing,
    limits,
  );
  const ms = Math.round(performance.now() - began);
  const isEnded = ({ status }) => !['submitted', 'working', 'running'].includes(status);
  const end = { what: 'The end of the run', within: WITHIN_MS };
  const { status } = await readUntil(() => getRun(url, event.runId), isEnded, end);
  say(`${status}; the server was idle ${ms} ms after the cancel`);
  expect(status === 'canceled', 'The run was not canceled', status);
}

async function checkCrash({ url, model, killAndRestart, say, afterwards }) {
  const { event, tokens, task } = await startLongAnswer({ url, model, afterwards });
  say(`kill -9 while the server generates (${tokens} tokens so far)`);
  say(`Parley is back after ${((await killAndRestart()) / 1000).toFixed(1)} s`);
  const { run: ended } = await endedRun(url, continueRun(url, event), {
    what: 'The end of the run after the kill',
    within: WITHIN_MS,
  });
  const { islands } = dataOf(ended);
  say(`${ended.status}: ${islands.length} islands, the first ${JSON.stringify(islands[0])}`);
  expect(islands.length === ISLANDS, 'The result is not whole', ended.result);
  const newest = await model.readSlot();
  expect(newest.task !== task, 'The model was not called again', newest);
}
