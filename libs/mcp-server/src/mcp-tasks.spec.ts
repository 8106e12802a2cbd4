import { agentMessage, type Artifact, dataPart, type Part, type Task, type TaskState, textPart } from '#libs/protocol';
import { taskResult } from './mcp-tasks.js';

const resultOf = (task: Task) => taskResult(task, 'http://parley/a2a/tasks/t');

const reference = { taskId: 't', contextId: 'c' };

function ended(state: TaskState, text?: string, artifacts?: Artifact[]): Task {
  const message = text === undefined ? {} : { message: agentMessage(reference, text) };
  return { id: 't', contextId: 'c', status: { state, ...message }, ...(artifacts && { artifacts }) };
}

const made = (...parts: Part[]) => ended('TASK_STATE_COMPLETED', undefined, [{ artifactId: 'i', name: 'out', parts }]);

describe('the result of a Task', () => {
  it('has texts as one text, and is found by the names of its Artifacts', () => {
    expect(resultOf(made(textPart('Hello '), textPart('Ada')))).toEqual({
      content: [{ type: 'text', text: 'Hello Ada' }],
      structuredContent: { out: 'Hello Ada' },
      _meta: { 'parley/taskId': 't', 'parley/contextId': 'c' },
    });
  });

  it('has data as it is, and as text for who reads only that', () => {
    expect(resultOf(made(dataPart({ price: 3 })))).toMatchObject({
      content: [{ type: 'text', text: '{"price":3}' }],
      structuredContent: { out: { price: 3 } },
    });
  });

  it('has files as MCP has them', () => {
    const files: Part[] = [
      { raw: 'aW1n', mediaType: 'image/png' },
      { raw: 'c2F5', mediaType: 'audio/wav' },
      { raw: 'cGRm', mediaType: 'application/pdf', filename: 'a.pdf' },
      { url: 'https://example.com/a.csv', mediaType: 'text/csv' },
    ];
    expect(resultOf(made(textPart('See'), ...files))).toMatchObject({
      content: [
        { type: 'text', text: 'See' },
        { type: 'image', data: 'aW1n', mimeType: 'image/png' },
        { type: 'audio', data: 'c2F5', mimeType: 'audio/wav' },
        {
          type: 'resource',
          resource: { uri: 'parley://tasks/t/artifacts/i/3', blob: 'cGRm', mimeType: 'application/pdf' },
        },
        { type: 'resource_link', uri: 'https://example.com/a.csv', mimeType: 'text/csv' },
      ],
      structuredContent: { out: [{ text: 'See' }, { raw: 'aW1n' }, { raw: 'c2F5' }, { filename: 'a.pdf' }, {}] },
    });
  });

  it('is the last words of a run without an output, or nothing', () => {
    expect(resultOf(ended('TASK_STATE_COMPLETED', 'Done'))).toMatchObject({
      content: [{ type: 'text', text: 'Done' }],
    });
    expect(resultOf(ended('TASK_STATE_COMPLETED'))).toMatchObject({ content: [] });
  });

  it.each<[TaskState, string]>([
    ['TASK_STATE_FAILED', 'The run failed'],
    ['TASK_STATE_REJECTED', 'The message was rejected'],
    ['TASK_STATE_CANCELED', 'The run was canceled'],
  ])('of one that is %s is an error with its sentence', (state, sentence) => {
    const artifacts = [{ artifactId: 'i', parts: [textPart('half')] }];
    expect(resultOf(ended(state, 'no luck', artifacts))).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'no luck' }],
    });
    expect(resultOf(ended(state))).toMatchObject({ isError: true, content: [{ type: 'text', text: sentence }] });
  });
});
