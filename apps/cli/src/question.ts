import type { components } from '#libs/client';
import { parseJson, UnfitJson } from '#libs/protocol';
import { CommandError } from './exit-code.js';
import { type Form, formData, formFields, typedFields } from './form-answer.js';
import { readInputs } from './inputs.js';
import type { Session } from './session.js';

type InboxQuestion = components['schemas']['InboxItem'];

interface GivenAnswer {
  node?: string;
  input: string[];
  data?: string;
}

/** Answers a question of a run. Without an answer it shows the open questions, if any. */
export async function answerQuestion(
  session: Session,
  runId: string,
  text: string | undefined,
  options: GivenAnswer,
): Promise<void> {
  const open = await openQuestions(session, runId, options.node);
  if (text === undefined && options.data === undefined && options.input.length === 0)
    return showQuestions(session, runId, open, options.node);
  const question = await theOne(session, runId, open, options.node);
  const part = partOf(question, text, options);
  await session.client.answer(runId, { node: question.instance, parts: [part] }, { signal: session.signal });
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

/** Returns the sentence that nothing is asked. @throws ParleyError 404 for an unknown run */
async function nothingAsked({ client, signal }: Session, runId: string, node: string | undefined): Promise<string> {
  const { status } = await client.get(runId, { signal });
  const what = node === undefined ? 'The run has no open question' : `Node "${node}" of the run has no open question`;
  return `${what}; the run is ${status}`;
}

async function listQuestions({ client, signal }: Session): Promise<InboxQuestion[]> {
  const found: InboxQuestion[] = [];
  for (let pageToken: string | undefined; ;) {
    const query = { pageSize: 100, pageToken };
    const page = await client.call<components['schemas']['InboxPage']>('/api/inbox', { query, signal });
    found.push(...page.items);
    if (page.nextPageToken === '') return found;
    pageToken = page.nextPageToken;
  }
}

function partOf(
  question: InboxQuestion,
  text: string | undefined,
  { input, data }: GivenAnswer,
): Record<string, unknown> {
  const given = [text, data, input.length > 0 ? input : undefined].filter((it) => it !== undefined);
  if (given.length !== 1)
    throw new CommandError(`Give one answer only: a text, -i or --data.\n${describeQuestion(question)}`);
  if (data !== undefined) return { data: parseDataJson(data) };
  if (text === undefined) return { data: typedFields(readInputs(input), question.form as Form | undefined) };
  return question.form === undefined ? { text } : { data: answerData(question, text) };
}

/** Returns the form's data. @throws CommandError if more is required */
function answerData(question: InboxQuestion, text: string): Record<string, unknown> {
  const data = formData(question.form as Form, text);
  if (data === undefined) throw new CommandError(`${describeQuestion(question)}\n${howToAnswer(question)}`);
  return data;
}

function parseDataJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof UnfitJson) throw new CommandError(`--data: ${error.message}`);
    throw new CommandError('--data is not valid JSON');
  }
}

/** Returns the question of a node, the fields of its form, its assignee and its deadline. */
function describeQuestion({ instance, text, form, assignee, deadline }: InboxQuestion): string {
  const fields = formFields(form as Form | undefined);
  const whom = assignee === undefined ? [] : [`    for ${assignee}`];
  const until = deadline === undefined ? [] : [`    until ${deadline}`];
  return [`${instance} asks: ${text}`, ...fields, ...whom, ...until].join('\n');
}

function howToAnswer({ runId, form }: InboxQuestion): string {
  return form === undefined
    ? `Answer with a text: parley answer ${runId} "…"`
    : 'Answer the form with -i field=value, or with --data.';
}
