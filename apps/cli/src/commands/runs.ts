import type { Command } from 'commander';
import { ParleyError, type Schemas } from '#libs/client';
import type { Part } from '#libs/protocol';
import { eventLine, showTaskLog } from '../event-line.js';
import { exampleText } from '../examples.js';
import { CommandError, EXIT } from '../exit-code.js';
import { answerPart, type Form, formFields, type GivenAnswer, sampleAnswer } from '../form-answer.js';
import { collectValue, readGivenText, readInputs } from '../inputs.js';
import { savedWorkflows } from '../saved-workflows.js';
import { Interrupted, type Session } from '../session.js';
import { addRunListCommands, parseCount } from './run-list.js';
import { showRunPrompts, showTaskPrompts } from '../shown-prompts.js';

type InboxQuestion = Schemas['InboxItem'];

/** Answers a question of a run. Without a given answer, it shows the open questions, if any. */
async function answerQuestion(
  session: Session,
  runId: string,
  text: string | undefined,
  { node, input, data }: Omit<GivenAnswer, 'text'> & { node?: string },
): Promise<void> {
  const open = await openQuestions(session, runId, node);
  if (text === undefined && data === undefined && input.length === 0) return showQuestions(session, runId, open, node);
  const question = await theOne(session, runId, open, node);
  const part = readAnswer(question, { text, input, data });
  await session.client.answer(runId, { node: question.instance, parts: [{ ...part }] }, { signal: session.signal });
  const taken = { runId, instance: question.instance };
  session.terminal.writeResult(
    taken,
    () => `Answered ${question.instance}. \`parley logs -f ${runId}\` shows its progress.`,
  );
}

/** Returns the open questions of a run, or of one of its nodes. */
async function openQuestions(session: Session, runId: string, node: string | undefined): Promise<InboxQuestion[]> {
  const asked = (await listQuestions(session)).filter((item) => item.runId === runId);
  return node === undefined ? asked : asked.filter((item) => item.instance === node || item.node === node);
}

async function showQuestions(
  session: Session,
  runId: string,
  open: InboxQuestion[],
  node: string | undefined,
): Promise<void> {
  const { terminal } = session;
  const nothing = open.length > 0 ? '' : await nothingAsked(session, runId, node);
  terminal.writeResult(open, () => terminal.stripControls(nothing || open.map(describeQuestion).join('\n')));
  const [question, another] = open;
  if (question)
    terminal.writeNote(another ? `Answer one of them with --node. ${howToAnswer(question)}` : howToAnswer(question));
}

async function theOne(
  session: Session,
  runId: string,
  open: InboxQuestion[],
  node: string | undefined,
): Promise<InboxQuestion> {
  const [question, another] = open;
  if (question === undefined) throw new CommandError(await nothingAsked(session, runId, node), 1);
  if (another)
    throw new CommandError(`Several nodes ask; say which one with --node:\n${open.map(describeQuestion).join('\n')}`);
  return question;
}

/**
 * Returns a sentence that the run or its node has no open question, with the run's status.
 * @throws ParleyError 404 for an unknown run
 */
async function nothingAsked({ client, signal }: Session, runId: string, node: string | undefined): Promise<string> {
  const { status } = await client.get(runId, { signal });
  const what = node === undefined ? 'The run has no open question' : `Node "${node}" of the run has no open question`;
  return `${what}; the run is ${status}`;
}

async function listQuestions({ client, signal }: Session): Promise<InboxQuestion[]> {
  const found: InboxQuestion[] = [];
  for (let pageToken: string | undefined; ;) {
    const query = { pageSize: 100, pageToken };
    const page = await client.call<Schemas['InboxPage']>('/api/inbox', { query, signal });
    found.push(...page.items);
    if (page.nextPageToken === '') return found;
    pageToken = page.nextPageToken;
  }
}

/** Returns the Part of an answer. @throws CommandError with the question, if the answer does not fit it */
function readAnswer(question: InboxQuestion, given: GivenAnswer): Part {
  try {
    return answerPart(question.form as Form | undefined, given);
  } catch (error) {
    if (error instanceof CommandError) throw new CommandError(`${describeQuestion(question)}\n${error.message}`);
    throw error;
  }
}

/** Formats a question: the node, the text, the fields of its form, its assignee and its deadline. */
function describeQuestion({ instance, text, form, assignee, deadline }: InboxQuestion): string {
  const fields = formFields(form as Form | undefined);
  const whom = assignee === undefined ? [] : [`    for ${assignee}`];
  const until = deadline === undefined ? [] : [`    until ${deadline}`];
  return [`${instance} asks: ${text}`, ...fields, ...whom, ...until].join('\n');
}

function howToAnswer({ runId, form }: InboxQuestion): string {
  return form === undefined
    ? `Answer with a text: parley answer ${runId} "…"`
    : `It has a form: ${sampleAnswer(form as Form)}.`;
}

type ShownRun = Schemas['RunDetail'];

/** Milliseconds without an event after a question, after which a hint says how to answer it. */
const REST_MS = 300;
/** Maximum names of workflows in the error for an unknown workflow. */
const MOST_NAMES = 20;
const INPUT = 'an input: key=text, key:=json, or key=@file';

/** Adds the commands `run`, `runs`, `cancel-runs`, `rerun-runs`, `logs`, `cancel`, `rerun` and `answer`. */
export function addRunCommands(program: Command, session: Session): void {
  program
    .command('run')
    .argument('<workflow>', 'name of the workflow')
    .description('start a run')
    .option('-i, --input <input>', INPUT, collectValue, [])
    .option('-f, --follow', 'show its events until it ends; the exit code is its outcome')
    .option('--key <key>', 'idempotency key: the same key and inputs give the same run')
    .addHelpText(
      'after',
      exampleText(
        'parley run greeting -i topic=tea --follow',
        `parley run approval -i change:='{"title":"x","risk":"high"}'`,
        'parley run summary -i text=@report.txt --key report-42',
      ),
    )
    .action((name: string, options: { input: string[]; follow?: boolean; key?: string }) =>
      startRun(session, name, options),
    );
  addRunListCommands(program, session);
  program
    .command('logs')
    .argument('[run]', 'its id')
    .description('show the events of a run, or of a Task')
    .option('-f, --follow', 'follow new events until it ends')
    .option('--since <sequence>', 'only events after this sequence number', '0')
    .option('--task <id>', 'show the events of a Task instead of a run')
    .option('--prompts', 'show what models were sent and answered; needs the scope prompts')
    .addHelpText(
      'after',
      exampleText(
        'parley logs 019a…',
        'parley logs -f 019a… --since 12',
        'parley logs --task 019a… --json',
        'parley logs 019a… --prompts',
      ),
    )
    .action((runId: string | undefined, options: LogOptions) => showLogs(session, runId, options));
  program
    .command('cancel')
    .argument('<run>', 'its id')
    .description('cancel a run and report the outcome for each agent')
    .addHelpText('after', exampleText('parley cancel 019a…'))
    .action((runId: string) => cancelRun(session, runId));
  program
    .command('rerun')
    .argument('<run>', 'id of a run that has ended')
    .description('start a new run that reuses results of a run that has ended')
    .option('--from <node>', 'a node or an instance to run again, with everything after it', collectValue, [])
    .option('--failed', 'run again the nodes that failed, with everything after them')
    .option('--edit <node>', 'an agent node, or an instance, to run again with the prompt of --prompt')
    .option('--prompt <text>', 'text to send to the model of --edit as it is, or @file')
    .option('-i, --input <input>', `${INPUT}; give all inputs, or none`, collectValue, [])
    .option('--revision <revision>', 'revision of the workflow; default: that of the run')
    .option('-f, --follow', 'show its events until it ends; the exit code is its outcome')
    .addHelpText(
      'after',
      exampleText(
        'parley rerun 019a… --failed --follow',
        'parley rerun 019a… --from draft --revision 3',
        'parley rerun 019a… --edit draft --prompt "Write two sentences about tea."',
      ),
    )
    .action((runId: string, options: RerunOptions) => startRerun(session, runId, options));
  program
    .command('answer')
    .argument('<run>', 'its id')
    .argument('[text]', 'answer, if the question expects a text')
    .description('answer a question of a run')
    .option('--node <node>', 'node that asks; required if several ask')
    .option('-i, --input <field>', 'a field of the form: key=text, or key:=json', collectValue, [])
    .option('--data <json>', 'the whole answer as JSON')
    .addHelpText('after', exampleText('parley answer 019a… -i decision=yes', 'parley answer 019a… "the second one"'))
    .action((runId: string, text: string | undefined, options: { node?: string; input: string[]; data?: string }) =>
      answerQuestion(session, runId, text, options),
    );
}

interface RerunOptions {
  from: string[];
  failed?: boolean;
  /** Node or instance whose prompt is replaced by `prompt`. */
  edit?: string;
  prompt?: string;
  input: string[];
  revision?: string;
  follow?: boolean;
}

interface LogOptions {
  follow?: boolean;
  since: string;
  task?: string;
  prompts?: boolean;
}

async function startRun(
  session: Session,
  name: string,
  { input, follow, key }: { input: string[]; follow?: boolean; key?: string },
): Promise<void> {
  const { client, signal } = session;
  const inputs = readInputs(input);
  const started = await client.run(name, inputs, { signal, idempotencyKey: key }).catch(async (error: unknown) => {
    throw error instanceof ParleyError && error.status === 404 ? await unknownWorkflow(session, name, error) : error;
  });
  if (follow) await followRun(session, started.runId);
  else session.terminal.writeResult(started, () => startedText(started.runId));
}

async function startRerun(session: Session, runId: string, options: RerunOptions): Promise<void> {
  const { from, failed, edit, prompt, input, revision, follow } = options;
  if ((edit === undefined) !== (prompt === undefined))
    throw new CommandError('--edit and --prompt belong together: rerun <run> --edit <node> --prompt <text>');
  const body = {
    ...(from.length > 0 && { from }),
    ...(failed && { failed }),
    ...(input.length > 0 && { inputs: readInputs(input) }),
    ...(revision !== undefined && { revision }),
    ...(edit !== undefined && prompt !== undefined && { edit: { node: edit, prompt: readGivenText(prompt) } }),
  };
  const started = await session.client.rerun(runId, body, { signal: session.signal });
  const compared = `\`parley diff-runs ${started.runId}\` compares it with run ${runId}.`;
  if (follow) await followRun(session, started.runId);
  else session.terminal.writeResult(started, () => `${startedText(started.runId)}\n${compared}`);
}

/** Returns the error for an unknown workflow, with the names of existing workflows. */
async function unknownWorkflow(session: Session, name: string, error: ParleyError): Promise<CommandError> {
  const views = await savedWorkflows(session).catch(() => []);
  const names = views.slice(0, MOST_NAMES).map((view) => view.name);
  const more = views.length > names.length ? `, … (${views.length})` : '';
  const there =
    names.length === 0 ? 'it has none; `parley apply` saves those of a folder' : `it has ${names.join(', ')}`;
  const { status, reason, message, requestId } = error;
  return new CommandError(`There is no workflow "${name}" at ${session.url}: ${there}${more}`, EXIT.failed, {
    status,
    reason,
    message,
    ...(requestId !== undefined && { requestId }),
  });
}

function startedText(runId: string): string {
  return `Run ${runId} started. \`parley logs -f ${runId}\` shows it.`;
}

/**
 * Shows the events of a run until its end. The outcome of the run determines the exit code.
 * @param since sequence after which the events begin
 */
async function followRun(session: Session, runId: string, since = 0): Promise<void> {
  const { client, terminal, signal } = session;
  terminal.writeNote(`Run ${runId}`);
  let waits: ReturnType<typeof setTimeout> | undefined;
  try {
    for await (const event of client.events(runId, { since, signal })) {
      clearTimeout(waits);
      terminal.writeEntry(event, () => eventLine(event, terminal));
      // An answered question is followed at once by the next events.
      if (event.type === 'input.required') waits = setTimeout(() => terminal.writeNote(answerHint(runId)), REST_MS);
    }
  } catch (error) {
    if (signal.reason instanceof Interrupted)
      terminal.writeNote(`\nThe run continues; \`parley logs -f ${runId}\` shows it again.`);
    throw error;
  } finally {
    clearTimeout(waits);
  }
  const run = await client.get(runId, { signal });
  if (run.status !== 'completed') session.code = EXIT.failed;
  if (!terminal.json) terminal.writeLine(terminal.stripControls(outcomeText(run)));
}

function answerHint(runId: string): string {
  return `It waits for an answer: send one with \`parley answer ${runId}\`.`;
}

function outcomeText({ status, result, error }: ShownRun): string {
  if (status !== 'completed') return `${status}${error ? `: ${error.message}` : ''}`;
  const texts = (result ?? []).flatMap((artifact) => {
    const parts = (artifact as { parts?: { text?: string; data?: unknown; url?: string }[] }).parts ?? [];
    return parts.map(({ text, data, url }) => text ?? url ?? (data === undefined ? '' : JSON.stringify(data, null, 2)));
  });
  return texts.filter((text) => text !== '').join('\n');
}

async function showLogs(session: Session, runId: string | undefined, options: LogOptions): Promise<void> {
  const since = parseCount('--since', options.since, 0);
  if (options.task !== undefined) {
    if (runId !== undefined || options.follow)
      throw new CommandError('--task cannot be combined with a run or --follow');
    await (options.prompts ? showTaskPrompts(session, options.task) : showTaskLog(session, options.task, since));
    return;
  }
  if (runId === undefined) throw new CommandError('Name a run, or a Task with --task');
  if (options.prompts) {
    if (options.follow) throw new CommandError('--prompts cannot be combined with --follow');
    await showRunPrompts(session, runId);
    return;
  }
  if (options.follow) {
    await followRun(session, runId, since);
    return;
  }
  const { client, signal, terminal } = session;
  const events = await Array.fromAsync(client.events(runId, { since, live: false, signal }));
  terminal.writeResult(events, () => events.map((event) => eventLine(event, terminal)).join('\n'));
}

async function cancelRun(session: Session, runId: string): Promise<void> {
  const canceled = await session.client.cancel(runId, { signal: session.signal });
  session.terminal.writeResult(canceled, () =>
    [
      `Run ${runId} is ${canceled.status}.`,
      ...canceled.children.map(({ node, agentUrl, outcome: became }) =>
        session.terminal.stripControls(`  ${node} at ${agentUrl}: ${became}`),
      ),
    ].join('\n'),
  );
}
