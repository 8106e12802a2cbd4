import { ParleyError, type Schemas } from '#libs/client';
import { isJsonObject, type JsonValue } from '#libs/protocol';
import type { Session } from './session.js';

/** Task whose model calls are shown, and the instance of the run's node that it belongs to. */
interface PromptedTask {
  taskId: string;
  instance?: string;
}

/** Model call with its texts, as the command prints it. */
type ShownPrompt = PromptedTask & Schemas['PromptTextsView'];

/** Shows what models were sent and answered for one Task. */
export async function showTaskPrompts(session: Session, taskId: string): Promise<void> {
  writePrompts(session, await readPrompts(session, { taskId }));
}

/** Shows what models were sent and answered in a run, node by node. */
export async function showRunPrompts(session: Session, runId: string): Promise<void> {
  const shown: ShownPrompt[] = [];
  for (const task of await listTasks(session, runId)) {
    // The Task of a remote agent is not in this service.
    const prompts = readPrompts(session, task).catch((error: unknown) => {
      if (error instanceof ParleyError && error.status === 404) return [];
      throw error;
    });
    shown.push(...(await prompts));
  }
  writePrompts(session, shown);
}

async function listTasks({ client, signal }: Session, runId: string): Promise<PromptedTask[]> {
  const tasks: PromptedTask[] = [];
  for (let pageToken = ''; ;) {
    const query = { pageToken, pageSize: 100 };
    const path = `/api/runs/${encodeURIComponent(runId)}/instances` as const;
    const page: Schemas['RunInstances'] = await client.call(path, { query, signal });
    for (const { taskId, instance } of page.instances) if (taskId !== undefined) tasks.push({ taskId, instance });
    pageToken = page.nextPageToken;
    if (pageToken === '') return tasks;
  }
}

async function readPrompts({ client, signal }: Session, task: PromptedTask): Promise<ShownPrompt[]> {
  const path = `/api/tasks/${encodeURIComponent(task.taskId)}/prompts` as const;
  const { calls }: Schemas['PromptListView'] = await client.call(path, { signal });
  const prompts: ShownPrompt[] = [];
  for (const { call } of calls) {
    const texts: Schemas['PromptTextsView'] = await client.call(`${path}/${call}`, { signal });
    prompts.push({ ...task, ...texts });
  }
  return prompts;
}

function writePrompts({ terminal }: Session, prompts: readonly ShownPrompt[]): void {
  const none = 'No model call is kept: none was made, or PROMPT_LOG is off.';
  const title = (prompt: ShownPrompt): string => terminal.paintText('bold', terminal.stripControls(titleOf(prompt)));
  terminal.writeResult(prompts, () =>
    prompts.length === 0
      ? none
      : prompts.map((prompt) => `${title(prompt)}\n${terminal.stripControls(textsOf(prompt))}`).join('\n\n'),
  );
}

/** Formats the head of a call: its node, its number, the model, the time and the tokens. */
function titleOf({ instance, call, step, model, provider, providerModel, ...outcome }: ShownPrompt): string {
  const { ms, usage, reason, error, cut } = outcome;
  const kinds = [
    usage?.cachedInputTokens === undefined ? '' : `${usage.cachedInputTokens} cached`,
    usage?.cacheWriteInputTokens === undefined ? '' : `${usage.cacheWriteInputTokens} written to the cache`,
    usage?.reasoningTokens === undefined ? '' : `${usage.reasoningTokens} reasoning`,
  ].filter((kind) => kind !== '');
  const tokens = usage && `${usage.inputTokens} + ${usage.outputTokens} tokens`;
  return [
    `${instance === undefined ? '' : `${instance}, `}call ${call}, step ${step}: ${model}`,
    ...(provider === undefined ? [] : [`${provider} ${providerModel ?? ''}`.trimEnd()]),
    ...(ms === undefined ? ['no end is recorded'] : [`${(ms / 1000).toFixed(2)} s`]),
    ...(tokens === undefined ? [] : [kinds.length > 0 ? `${tokens} (${kinds.join(', ')})` : tokens]),
    ...(reason === undefined ? [] : [reason]),
    ...(error === undefined ? [] : [`error: ${error}`]),
    ...(cut ? ['cut'] : []),
  ].join(', ');
}

function textsOf({ sent, received }: ShownPrompt): string {
  const { system, messages, tools, output, temperature, maxTokens } = sent;
  const parameters = { temperature, maxTokens };
  const lines: [label: string, text: string][] = [
    ...(system === undefined ? [] : [['system', textOf(system as JsonValue)] as [string, string]]),
    ...(messages as JsonValue[]).map(messageLine),
    ...(tools === undefined ? [] : [['tools', toolNames(tools as JsonValue)] as [string, string]]),
    ...(output === undefined ? [] : [['schema', JSON.stringify(output)] as [string, string]]),
    ...(JSON.stringify(parameters) === '{}' ? [] : [['parameters', JSON.stringify(parameters)] as [string, string]]),
    ...(received === undefined ? [] : [['received', messageLine(received as JsonValue)[1]] as [string, string]]),
  ];
  return lines
    .map(([label, text]) => `  ${label.padEnd(10)} ${text.replaceAll('\n', `\n${' '.repeat(13)}`)}`)
    .join('\n');
}

function messageLine(message: JsonValue): [label: string, text: string] {
  if (!isJsonObject(message) || typeof message['role'] !== 'string') return ['', textOf(message)];
  const { role, parts = [], toolCalls = [], results = [] } = message;
  const texts = [
    ...listOf(parts).map(textOf),
    ...listOf(toolCalls).map((call) =>
      isJsonObject(call) ? `→ ${textOf(call['name'])}(${JSON.stringify(call['args'])})` : '',
    ),
    ...listOf(results).map((result) =>
      isJsonObject(result) ? `${textOf(result['name'])}: ${textOf(result['result'] ?? result['error'])}` : '',
    ),
  ];
  return [role, texts.join('\n')];
}

function toolNames(tools: JsonValue): string {
  return Array.isArray(tools)
    ? tools.map((tool) => textOf(isJsonObject(tool) ? tool['name'] : tool)).join(', ')
    : textOf(tools);
}

/**
 * Returns a value of a recorded model call as text: a string itself, the text of a Part, or the kept start of a
 * truncated value with the number of bytes left out. Any other value is returned as JSON.
 */
function textOf(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  if (!isJsonObject(value)) return JSON.stringify(value ?? null);
  if (typeof value['text'] === 'string') return value['text'];
  if (typeof value['cut'] === 'number') return `${textOf(value['start'])}… [cut: ${value['cut']} bytes]`;
  return JSON.stringify(value['data'] ?? value);
}

function listOf(value: JsonValue): JsonValue[] {
  return Array.isArray(value) ? value : [];
}
