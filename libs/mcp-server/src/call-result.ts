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

/** One block of what a tool gives, as MCP has it. */
export type Content = { type: string } & JsonObject;

/** What a tool gives. */
export type CallResult = JsonObject & { content: Content[] };

const SENTENCES: Partial<Record<TaskState, string>> = {
  TASK_STATE_CANCELED: 'The run was canceled',
  TASK_STATE_REJECTED: 'The message was rejected',
  TASK_STATE_FAILED: 'The run failed',
};

/** What a tool gives where its workflow was not run to its end: a sentence that is safe to show. */
export function failure(text: string, about: JsonObject = {}): CallResult {
  return { content: [{ type: 'text', text }], isError: true, ...about };
}

/** The result of a Task that has ended: its Artifacts, or why there are none. */
export function resultOf(task: Task): CallResult {
  const { status, artifacts = [] } = task;
  const said = joinedText(status.message?.parts ?? []);
  const sentence = SENTENCES[status.state];
  if (sentence !== undefined) return failure(said || sentence, aboutOf(task));
  const content = artifacts.flatMap(({ artifactId, parts }) =>
    blocksOf(parts, (index) => `parley://tasks/${task.id}/artifacts/${artifactId}/${index}`),
  );
  return {
    content: content.length > 0 || said === undefined ? content : [{ type: 'text', text: said }],
    ...(artifacts.length > 0 && { structuredContent: structured(artifacts) }),
    ...aboutOf(task),
  };
}

/** Which Task it is, for who wants to look at it, or to go on in its context. */
export function aboutOf({ id, contextId }: Pick<Task, 'id' | 'contextId'>): { _meta: JsonObject } {
  return { _meta: { 'parley/taskId': id, 'parley/contextId': contextId } };
}

/** By the Artifact's name: its data, else its text, else its Parts. */
function structured(artifacts: readonly Artifact[]): JsonObject {
  return Object.fromEntries(artifacts.map((it) => [it.name ?? it.artifactId, valueOf(it.parts)]));
}

function valueOf(parts: readonly Part[]): JsonValue {
  const isText = parts.every(({ text }) => text !== undefined);
  if (isText) return textRows(parts).filter(Boolean).join('\n\n');
  const [only, another] = parts;
  if (only?.data !== undefined && another === undefined) return only.data;
  return parts as unknown as JsonValue;
}

/** Text Parts in a row are one text. */
function blocksOf(parts: readonly Part[], uriOf: (index: number) => string): Content[] {
  const blocks: Content[] = [];
  let row: Part[] = [];
  const close = (): void => {
    blocks.push(...textRows(row).map((text): Content => ({ type: 'text', text })));
    row = [];
  };
  for (const [index, part] of parts.entries()) {
    if (part.text !== undefined) row.push(part);
    else {
      close();
      blocks.push(blockOf(part, uriOf(index)));
    }
  }
  close();
  return blocks;
}

function blockOf({ raw, url, data, mediaType, filename }: Part, uri: string): Content {
  if (url !== undefined) {
    return { type: 'resource_link', uri: url, name: filename ?? url, ...(mediaType && { mimeType: mediaType }) };
  }
  if (raw === undefined) return { type: 'text', text: JSON.stringify(data) };
  const mimeType = mediaType ?? 'application/octet-stream';
  const [kind] = mimeType.split('/', 1);
  if (kind === 'image' || kind === 'audio') return { type: kind, data: raw, mimeType };
  return { type: 'resource', resource: { uri, blob: raw, mimeType } };
}
