import { agentMessage, formMessage, type Message, type TaskState, textPart } from '#libs/protocol';
import type { StoredTask, TaskHeader } from '#libs/tasks';
import type { NodeInstance } from '../state/node-instance.js';
import { pollWaitingChildren } from './asking-children.js';

const [BEFORE, THEN, LATER] = [1_000, 2_000, 3_000].map((at) => new Date(at));
const REFERENCE = { taskId: 't', contextId: 'c' };
const FORM = { type: 'object' };
const asked = (text: string): Message => agentMessage(REFERENCE, [textPart(text)]);

/** Returns a node that waits for an answer. The run knows the question `Well?` of its Task. */
function waiting(fields: Partial<NodeInstance> = {}): NodeInstance {
  const question = [textPart('Well?')];
  return { id: 'n', type: 'workflow', taskId: 't', askedAt: THEN?.toISOString(), question, ...fields } as NodeInstance;
}

let sequence = 0;
const children = { movedOn: async () => [{ nodeId: 'n', asked: '1 then' }] };

/**
 * Stores a Task in the given state, polls the node, and returns the ids of the nodes whose Tasks no longer ask the
 * question.
 */
async function found(
  node: NodeInstance,
  state: TaskState,
  updatedAt = BEFORE,
  message = asked('Well?'),
): Promise<string[]> {
  sequence += 1;
  const header = { taskId: 't', state, updatedAt, lastSequence: sequence } as TaskHeader;
  const task = { status: { state, message } } as StoredTask['task'];
  const tasks = {
    readHeaders: async (ids: readonly string[]) => new Map(ids.includes('t') ? [['t', header]] : []),
    loadTask: async () => ({ header, task }),
  };
  return (await pollWaitingChildren({ tasks, children }, 'run-1', asking(node))).movedOn.map(({ id }) => id);
}

function asking(node: NodeInstance): Parameters<typeof pollWaitingChildren>[2] {
  return node.type === 'external' ? { own: [], elsewhere: [node] } : { own: [node], elsewhere: [] };
}

describe('a look at children that ask', () => {
  it.each<TaskState>(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED'])(
    'tells of a Task that is %s',
    async (state) => expect(await found(waiting(), state)).toEqual(['n']),
  );

  it.each<TaskState>(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'])(
    'not of one that is %s still',
    async (it) => expect(await found(waiting(), it)).toEqual([]),
  );

  it.each([
    ['behind', BEFORE],
    ['the same', THEN],
    ['ahead', LATER],
  ])(
    'tells of one that has asked something else, and of no other, at a replica whose clock is %s',
    async (_what, at) => {
      const ask = (node: NodeInstance, message: Message) => found(node, 'TASK_STATE_INPUT_REQUIRED', at, message);
      expect(await ask(waiting(), asked('And now?'))).toEqual(['n']);
      expect(await ask(waiting(), asked('Well?'))).toEqual([]);
      const withForm = formMessage(REFERENCE, [textPart('Well?')], { form: FORM });
      expect(await ask(waiting(), withForm)).toEqual(['n']);
      expect(await ask(waiting({ asks: { form: FORM } }), withForm)).toEqual([]);
    },
  );

  it('reads a Task once in each of its states', async () => {
    let reads = 0;
    const header = { taskId: 'once', state: 'TASK_STATE_INPUT_REQUIRED', lastSequence: 7 } as TaskHeader;
    const tasks = {
      readHeaders: async () => new Map([['once', header]]),
      loadTask: async () => {
        reads += 1;
        return { header, task: { status: { state: header.state, message: asked('Well?') } } as StoredTask['task'] };
      },
    };
    for (let look = 0; look < 3; look += 1)
      expect(
        (await pollWaitingChildren({ tasks, children }, 'run-1', asking(waiting({ taskId: 'once' })))).movedOn,
      ).toEqual([]);
    expect(reads).toBe(1);
    header.lastSequence = 9;
    expect(
      (await pollWaitingChildren({ tasks, children }, 'run-1', asking(waiting({ taskId: 'once' })))).movedOn,
    ).toEqual([]);
    expect(reads).toBe(2);
  });

  it('tells of a question of an agent elsewhere that a job has found to be asked no more, and of no later one', async () => {
    const external = { type: 'external', instance: 'n', attempts: 1, sentAt: 'then' };
    const ask = (fields: Partial<NodeInstance>) =>
      found(waiting({ ...external, ...fields }), 'TASK_STATE_INPUT_REQUIRED');
    expect(await ask({})).toEqual(['n']);
    expect(await ask({ sentAt: 'later' })).toEqual([]);
    expect(await ask({ attempts: 2 })).toEqual([]);
    expect(await ask({ instance: 'n@2' })).toEqual([]);
  });

  it('looks at no Task of an agent elsewhere by itself, nor at Tasks that nobody knows', async () => {
    expect(await found(waiting({ type: 'external' }), 'TASK_STATE_COMPLETED')).toEqual([]);
    expect(await found(waiting({ taskId: undefined }), 'TASK_STATE_COMPLETED')).toEqual([]);
    expect(await found(waiting({ taskId: 'another' }), 'TASK_STATE_COMPLETED')).toEqual([]);
  });
});
