import type { components } from '#libs/client';
import { parseJson, UnfitJson } from '#libs/protocol';
import { CommandError } from './exit-code.js';
import { type Form, formData, formFields, typedFields } from './form-answer.js';
import { readInputs } from './inputs.js';
import type { Session } from './session.js';

type Question = components['schemas']['InboxItem'];

interface AnswerOptions {
  node?: string;
  input: string[];
  data?: string;
}

/** Answers a question of a run. Without an answer it shows the open questions, if any. */
export async function ask(
  session: Session,
  runId: string,
  text: string | undefined,
  options: AnswerOptions,
): Promise<void> {
  const open = await openQuestions(session, runId, options.node);
  if (text === undefined && options.data === undefined && options.input.length === 0)
    return show(session, runId, open, options.node);
  const question = await theOne(session, runId, open, options.node);
  const part = partOf(question, text, options);
  await session.client.answer(runId, { node: question.instance, parts: [part] }, { signal: session.signal });
  const taken = { runId, instance: question.instance };
  session.terminal.result(
    taken,
    () => `Answered ${question.instance}. \`parley logs -f ${runId}\` shows how it goes on.`,
  );
}

/** Returns the open questions of a run, or of one of its nodes. */
async function openQuestions(session: Session, runId: string, node: string | undefined): Promise<Question[]> {
  const asked = (await questions(session)).filter((item) => item.runId === runId);
  return node === undefined ? asked : asked.filter((item) => item.instance === node || item.node === node);
}

async function show(session: Session, runId: string, open: Question[], node: string | undefined): Promise<void> {
  const { terminal } = session;
  const nothing = open.length > 0 ? '' : await nothingAsked(session, runId, node);
  terminal.result(open, () => terminal.foreign(nothing || open.map(asking).join('\n')));
  const [question, another] = open;
  if (question) terminal.note(another ? `Answer one of them with --node. ${how(question)}` : how(question));
}

async function theOne(session: Session, runId: string, open: Question[], node: string | undefined): Promise<Question> {
  const [question, another] = open;
  if (question === undefined) throw new CommandError(await nothingAsked(session, runId, node), 1);
  if (another) throw new CommandError(`Several nodes ask; say which one with --node:\n${open.map(asking).join('\n')}`);
  return question;
}

/** Returns the sentence that nothing is asked. @throws ParleyError 404 for an unknown run */
async function nothingAsked({ client, signal }: Session, runId: string, node: string | undefined): Promise<string> {
  const { status } = await client.get(runId, { signal });
  const what = node === undefined ? 'Nothing in the run asks anything' : `Node "${node}" of the run asks nothing`;
  return `${what}; the run is ${status}`;
}

async function questions({ client, signal }: Session): Promise<Question[]> {
  const found: Question[] = [];
  for (let pageToken: string | undefined; ;) {
    const query = { pageSize: 100, pageToken };
    const page = await client.call<components['schemas']['InboxPage']>('/api/inbox', { query, signal });
    found.push(...page.items);
    if (page.nextPageToken === '') return found;
    pageToken = page.nextPageToken;
  }
}

function partOf(question: Question, text: string | undefined, { input, data }: AnswerOptions): Record<string, unknown> {
  const given = [text, data, input.length > 0 ? input : undefined].filter((it) => it !== undefined);
  if (given.length !== 1) throw new CommandError(`One answer is enough: a text, -i or --data.\n${asking(question)}`);
  if (data !== undefined) return { data: jsonOf(data) };
  if (text === undefined) return { data: typedFields(readInputs(input), question.form as Form | undefined) };
  return question.form === undefined ? { text } : { data: formOf(question, text) };
}

/** Returns the form's data. @throws CommandError if more is required */
function formOf(question: Question, text: string): Record<string, unknown> {
  const data = formData(question.form as Form, text);
  if (data === undefined) throw new CommandError(`${asking(question)}\n${how(question)}`);
  return data;
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof UnfitJson) throw new CommandError(`--data: ${error.message}`);
    throw new CommandError('--data is no JSON');
  }
}

/** Returns the question of a node, the fields of its form, its assignee and its deadline. */
function asking({ instance, text, form, assignee, deadline }: Question): string {
  const fields = formFields(form as Form | undefined);
  const whom = assignee === undefined ? [] : [`    for ${assignee}`];
  const until = deadline === undefined ? [] : [`    until ${deadline}`];
  return [`${instance} asks: ${text}`, ...fields, ...whom, ...until].join('\n');
}

function how({ runId, form }: Question): string {
  return form === undefined
    ? `Answer with a text: parley answer ${runId} "…"`
    : 'Answer its form with -i field=value, or with --data.';
}
