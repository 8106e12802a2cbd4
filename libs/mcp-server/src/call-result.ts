import {
  type Artifact,
  joinedText,
  type JsonObject,
  type JsonValue,
  type Part,
  type Task,
  type TaskState,
  textRows,
} from '#libs/protocol';

/** Content block of a tool result, as MCP defines it. */
export type ContentBlock = { type: string } & JsonObject;

/** Result of `tools/call`. */
export type CallResult = JsonObject & { content: ContentBlock[] };

const SENTENCES: Partial<Record<TaskState, string>> = {
  TASK_STATE_CANCELED: 'The run was canceled',
  TASK_STATE_REJECTED: 'The message was rejected',
  TASK_STATE_FAILED: 'The run failed',
};

/** Returns an error result. `text` must be safe to show to a caller. */
export function failureResult(text: string, about: JsonObject = {}): CallResult {
  return { content: [{ type: 'text', text }], isError: true, ...about };
}

/** Returns the result of a Task that has ended: its Artifacts, or the reason why it has none. */
export function taskResult(task: Task): CallResult {
  const { status, artifacts = [] } = task;
  const said = joinedText(status.message?.parts ?? []);
  const sentence = SENTENCES[status.state];
  if (sentence !== undefined) return failureResult(said || sentence, aboutOf(task));
  const content = artifacts.flatMap(({ artifactId, parts }) =>
    blocksOf(parts, (index) => `parley://tasks/${task.id}/artifacts/${artifactId}/${index}`),
  );
  return {
    content: content.length > 0 || said === undefined ? content : [{ type: 'text', text: said }],
    ...(artifacts.length > 0 && { structuredContent: structuredContent(artifacts) }),
    ...aboutOf(task),
  };
}

/** Returns the `_meta` that names the Task and its context, so that a client can inspect or continue them. */
export function aboutOf({ id, contextId }: Pick<Task, 'id' | 'contextId'>): { _meta: JsonObject } {
  return { _meta: { 'parley/taskId': id, 'parley/contextId': contextId } };
}

/** Returns the value of each Artifact by its name: its data, else its text, else its Parts. */
function structuredContent(artifacts: readonly Artifact[]): JsonObject {
  return Object.fromEntries(artifacts.map((it) => [it.name ?? it.artifactId, artifactValue(it.parts)]));
}

function artifactValue(parts: readonly Part[]): JsonValue {
  const isText = parts.every(({ text }) => text !== undefined);
  if (isText) return textRows(parts).filter(Boolean).join('\n\n');
  const [only, another] = parts;
  if (only?.data !== undefined && another === undefined) return only.data;
  return parts as unknown as JsonValue;
}

/** Merges consecutive text Parts into one block. */
function blocksOf(parts: readonly Part[], uriOf: (index: number) => string): ContentBlock[] {
  const blocks: ContentBlock[] = [];
  let row: Part[] = [];
  const flushTexts = (): void => {
    blocks.push(...textRows(row).map((text): ContentBlock => ({ type: 'text', text })));
    row = [];
  };
  for (const [index, part] of parts.entries()) {
    if (part.text !== undefined) row.push(part);
    else {
      flushTexts();
      blocks.push(blockOf(part, uriOf(index)));
    }
  }
  flushTexts();
  return blocks;
}

function blockOf({ raw, url, data, mediaType, filename }: Part, uri: string): ContentBlock {
  if (url !== undefined) {
    return { type: 'resource_link', uri: url, name: filename ?? url, ...(mediaType && { mimeType: mediaType }) };
  }
  if (raw === undefined) return { type: 'text', text: JSON.stringify(data) };
  const mimeType = mediaType ?? 'application/octet-stream';
  const [kind] = mimeType.split('/', 1);
  if (kind === 'image' || kind === 'audio') return { type: kind, data: raw, mimeType };
  return { type: 'resource', resource: { uri, blob: raw, mimeType } };
}
