import {
  dataPart,
  type Message,
  runEventMetadata,
  statusUpdate,
  type TaskState,
  textPart,
  userMessage,
} from '#libs/protocol';
import type { WorkflowDefinition } from '#libs/workflow-definition';
import { DrivenRun, workflowOf } from './driven-run.js';
import { FakeAgents, type FakeCall } from './fake-agents.js';

/**
 * Runs whose logs are stored in `golden/`, by name. Each function plays the run in the same way as when its log was
 * recorded.
 */
export const GOLDEN_RUNS: Readonly<Record<string, () => Promise<DrivenRun>>> = {
  chain,
  fan,
  diamond,
  templates,
  failure,
  'failure-continue': failureContinue,
  'no-url': () => noUrl('cancel'),
  'no-url-continue': () => noUrl('continue'),
  waiting,
  'waiting-two': waitingTwo,
  'waiting-failure': waitingFailure,
  cancel,
  'cancel-waiting': cancelWaiting,
  'recovered-started': () => recovered('node.started ext'),
  'recovered-sent': () => recovered('a2a.sending ext'),
  'recovered-no-url': recoveredNoUrl,
  'recovered-stopping': recoveredStopping,
  'no-dag': noDag,
  'ended-outside': endedOutside,
};

async function chain(): Promise<DrivenRun> {
  const run = new DrivenRun(workflowOf('in a out', 'in>a a>out'), answering());
  await run.start([dataPart({ in: { k: 1 } })]);
  return run;
}

async function fan(): Promise<DrivenRun> {
  const run = byHand(workflowOf('a b c d out', 'a>b a>c a>d b>out c>out d>out'));
  const ended = run.start();
  for (const id of ['a', 'c', 'd', 'b', 'out']) await complete(run, id);
  await ended;
  return run;
}

/** Plays a run with a duplicate edge, and with results of several Artifacts. */
async function diamond(): Promise<DrivenRun> {
  const two = [
    { artifactId: 'x', parts: [textPart('1')] },
    { artifactId: 'y', parts: [dataPart({ n: 2 })] },
  ];
  const agents = new FakeAgents((call) => call.task('TASK_STATE_COMPLETED', { artifacts: two }).end());
  const run = new DrivenRun(workflowOf('a b out1 out2', 'a>b a>out1 b>out1 a>b a>out2'), agents);
  await run.start();
  return run;
}

/** Plays a run with unresolved references, steps that agents report, and a direct reply of an external agent. */
async function templates(): Promise<DrivenRun> {
  const definition = workflowOf('in a ext', 'in>a a>ext');
  configure(definition, 'a', { prompt: '{{in}} {{in.data}} {{ext}} {{nobody}}' });
  configure(definition, 'ext', { prompt: '{{a}} {{a.x}}' });
  const run = byHand(definition);
  const ended = run.start('hello');
  await complete(run, 'in');
  const step = runEventMetadata({ type: 'model.request', payload: { model: 'echo' } });
  (await run.agents.called('a')).task().status('TASK_STATE_WORKING', undefined, step).complete('A');
  (await run.agents.called('ext')).reply(textPart('direct'));
  await ended;
  return run;
}

/** Plays a run in which a node fails while another runs, a third waits and a fourth has not started. */
async function failure(): Promise<DrivenRun> {
  const run = byHand(workflowOf('a b ext w last', 'a>b a>ext a>w b>last ext>last'));
  const ended = run.start();
  await complete(run, 'a');
  await ask(run, 'w', 'which?');
  (await run.agents.called('ext')).task();
  await fail(run, 'b');
  await ended;
  return run;
}

/** Plays a run in which two nodes fail. Some nodes come after both of them, some after one, and some after neither. */
async function failureContinue(): Promise<DrivenRun> {
  const run = byHand(workflowOf('a b c d e f', 'a>c b>d c>e d>e b>f', { onFailure: 'continue' }));
  const ended = run.start();
  await fail(run, 'a');
  await complete(run, 'b');
  await fail(run, 'd');
  await complete(run, 'f');
  await ended;
  return run;
}

/** Plays a run with nodes that fail before they are called, beside others that are ready. */
async function noUrl(onFailure: 'cancel' | 'continue'): Promise<DrivenRun> {
  const definition = workflowOf('a ext1 ext2 b c', 'ext1>c', { onFailure });
  configure(definition, 'ext1', {});
  configure(definition, 'ext2', {});
  const run = new DrivenRun(definition, answering());
  await run.start();
  return run;
}

async function waiting(): Promise<DrivenRun> {
  const run = byHand(workflowOf('a b c out', 'a>out b>c c>out'));
  const asked = run.start();
  await ask(run, 'a', 'which?');
  await complete(run, 'b');
  await complete(run, 'c');
  await asked;
  const again = run.answer(message('m-2', 'this'));
  (await run.agents.called('a', 2)).finish('TASK_STATE_AUTH_REQUIRED', 'who?');
  await again;
  const ended = run.answer(message('m-3', 'me'));
  (await run.agents.called('a', 3)).complete('A');
  await complete(run, 'out');
  await ended;
  return run;
}

/** Plays a run with two waiting nodes. The first answer names the second node; the second answer names both nodes. */
async function waitingTwo(): Promise<DrivenRun> {
  const run = byHand(workflowOf('a b', ''));
  const asked = run.start();
  await ask(run, 'b', 'who b?', 'TASK_STATE_AUTH_REQUIRED');
  await ask(run, 'a', 'which a?');
  await asked;
  const again = run.answer(message('m-2', 'me', { node: 'b' }));
  (await run.agents.called('b', 2)).finish('TASK_STATE_INPUT_REQUIRED', 'which b?');
  await again;
  const ended = run.answer(message('m-3', [dataPart({ b: { k: 1 }, a: 'A' })]));
  (await run.agents.called('a', 2)).complete('A');
  await run.until('node.completed a');
  (await run.agents.called('b', 3)).complete('B');
  await ended;
  return run;
}

async function waitingFailure(): Promise<DrivenRun> {
  const run = byHand(workflowOf('a b c', 'a>c'));
  const ended = run.start();
  await ask(run, 'a', 'which?');
  await fail(run, 'b');
  await ended;
  return run;
}

async function cancel(): Promise<DrivenRun> {
  const run = byHand(workflowOf('a b ext never', 'a>ext a>never b>never'));
  const ended = run.start();
  await complete(run, 'a');
  (await run.agents.called('b')).task();
  (await run.agents.called('ext')).task();
  run.cancel();
  await ended;
  return run;
}

async function cancelWaiting(): Promise<DrivenRun> {
  const run = byHand(workflowOf('a b', 'a>b'));
  const asked = run.start();
  await ask(run, 'a', 'which?');
  await asked;
  await run.cancelWaiting();
  return run;
}

/**
 * Recovers a run in another process, from the events of its log up to the step `last`. The store has the Task of `a`.
 */
async function recovered(last: string): Promise<DrivenRun> {
  const definition = workflowOf('in a ext out', 'in>a in>ext a>out ext>out');
  const first = new DrivenRun(definition, answering());
  await first.start();
  const run = new DrivenRun(definition, answering());
  run.own.set('a#1', 'known-a');
  await run.recover(first.log.slice(0, first.steps.indexOf(last) + 1));
  return run;
}

/** Recovers a run from its log up to the start of a node without a URL. The recovered run fails that node next. */
async function recoveredNoUrl(): Promise<DrivenRun> {
  const first = await noUrl('continue');
  const run = new DrivenRun(first.definition, answering());
  await run.recover(first.log.slice(0, first.steps.indexOf('node.started ext1') + 1));
  return run;
}

async function recoveredStopping(): Promise<DrivenRun> {
  const first = byHand(workflowOf('a ext b', 'a>b'));
  const ended = first.start();
  (await first.agents.called('ext')).task();
  await fail(first, 'a');
  await ended;
  const run = byHand(first.definition);
  run.children.remembered.push(...first.children.remembered);
  await run.recover(first.log.slice(0, first.steps.indexOf('node.error a') + 1));
  return run;
}

async function noDag(): Promise<DrivenRun> {
  const run = new DrivenRun(workflowOf('a b c', 'a>b b>a c>nobody'), answering());
  await run.start();
  return run;
}

async function endedOutside(): Promise<DrivenRun> {
  const run = byHand(workflowOf('a b c', 'a>c b>c'));
  const ended = run.start();
  await complete(run, 'a');
  run.shutDown();
  await ended.catch(() => undefined);
  const { id: taskId, contextId } = run.task;
  run.log.push(statusUpdate({ taskId, contextId }, 'TASK_STATE_FAILED', 'The process stopped.'));
  return run;
}

function answering(): FakeAgents {
  return new FakeAgents((call: FakeCall) => call.complete(`${call.node} done`));
}

function byHand(definition: WorkflowDefinition): DrivenRun {
  return new DrivenRun(definition, new FakeAgents());
}

function configure({ nodes }: WorkflowDefinition, id: string, config: Record<string, string>): void {
  const node = nodes.find((it) => it.id === id);
  if (node) node.config = id.startsWith('ext') && config['prompt'] ? { ...node.config, ...config } : config;
}

async function complete(run: DrivenRun, id: string): Promise<void> {
  (await run.agents.called(id)).complete(`${id} done`);
  await run.until(`node.completed ${id}`);
}

async function fail(run: DrivenRun, id: string): Promise<void> {
  (await run.agents.called(id)).finish('TASK_STATE_FAILED', 'boom');
  await run.until(`node.error ${id}`);
}

async function ask(
  run: DrivenRun,
  id: string,
  question: string,
  state: TaskState = 'TASK_STATE_INPUT_REQUIRED',
): Promise<void> {
  (await run.agents.called(id)).finish(state, question);
  await run.until(`a2a.received ${id}`);
}

function message(messageId: string, content: string | Message['parts'], metadata?: Message['metadata']): Message {
  return userMessage(content, { messageId, ...(metadata && { metadata }) });
}
