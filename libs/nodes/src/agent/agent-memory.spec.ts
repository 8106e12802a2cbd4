import { CallChains, ConversationEntries, type ConversationEntry } from '#libs/agents';
import { type Message, textPart, userMessage } from '#libs/protocol';
import type { PageAdmission, StoredTask, TaskHeader, TaskQuery } from '#libs/tasks';
import { taskWith, turn } from '../testing/turn.js';
import { AgentMemory } from './agent-memory.js';

const WHEN = new Date('2026-01-02T00:00:00Z');
const OWN: TaskHeader = {
  taskId: 'task',
  contextId: 'context',
  tenant: 't',
  owner: 'o',
  agent: 'workflows/w/nodes/a',
  state: 'TASK_STATE_WORKING',
  lastSequence: 2,
  createdAt: WHEN,
  updatedAt: WHEN,
};

function stored(id: number, header: Partial<TaskHeader> = {}): StoredTask {
  const task = taskWith(`question ${id}`, 'between', 'more');
  const updatedAt = new Date(WHEN.getTime() - id * 1000);
  const message = { ...userMessage(`answer ${id}`), role: 'ROLE_AGENT' as const };
  return {
    header: { ...OWN, taskId: `t${id}`, updatedAt, ...header },
    task: { ...task, status: { state: 'TASK_STATE_COMPLETED', message } },
  };
}

/**
 * Creates the memory of an agent over a fake store. The store has these Tasks, sorted by the time of their completion,
 * newest first, and records its queries.
 */
function memoryOf(tasks: StoredTask[], own: Partial<TaskHeader> = {}, bytes = 0) {
  const queries: TaskQuery[] = [];
  const store = {
    readHeader: async () => ({ ...OWN, ...own }),
    completedBefore: async (_taskId: string, limit: number) => tasks.slice(0, limit).map(({ header }) => header),
    readPage: async (query: TaskQuery, admission: PageAdmission) => {
      queries.push(query);
      await admission.admitBytes(bytes);
      const found = tasks.filter(({ header }) => query.taskIds!.includes(header.taskId));
      found.sort((a, b) => b.header.updatedAt.getTime() - a.header.updatedAt.getTime());
      return { tasks: found.slice(0, query.limit), more: found.length > query.limit };
    },
  };
  return { queries, store, memory: new AgentMemory(store, entries) };
}

const entries = new ConversationEntries(new CallChains(Buffer.from('a secret')));

/**
 * Returns a Message that a conversation of this service sends. Its conversation entry is signed for the owner `o`, who
 * owns all Tasks in this file.
 */
function talked(text: string, said?: ConversationEntry['said']): Message {
  const entry: ConversationEntry = { instructions: '', role: 'requester', self: 'a', skip: '', ...(said && { said }) };
  return entries.attachEntry(entry, userMessage(text), { tenant: 't', owner: 'o' });
}

const ROOM = { history: 'context', historyTokens: 32_000 } as const;

const texts = async (memory: AgentMemory, historyTokens = 32_000, noted?: string[]): Promise<(string | undefined)[]> =>
  (await memory.recallMessages(turn('now'), { ...ROOM, historyTokens }, noted)).messages.map((it) =>
    'parts' in it ? it.parts[0]?.text : undefined,
  );

describe('what an agent remembers', () => {
  it('waits for a database that is away', async () => {
    const { memory, store } = memoryOf([stored(1)]);
    const { readPage: page } = store;
    store.readPage = async () => {
      store.readPage = page;
      throw Object.assign(new Error('terminating connection'), { code: '57P01' });
    };
    expect(await texts(memory)).toEqual(['question 1', 'answer 1']);
  });

  it('is the first Message and the last answer of each turn before this one, the oldest first', async () => {
    const { memory, queries } = memoryOf([stored(1), stored(2)]);
    expect(await texts(memory)).toEqual(['question 2', 'answer 2', 'question 1', 'answer 1']);
    expect(queries).toEqual([
      { scope: { tenant: 't', owner: 'o' }, taskIds: ['t1', 't2'], urgent: true, artifacts: false, limit: 10 },
    ]);
  });

  it.each([-300, -20, 20, 300])(
    'follows the order of commits where the replica that answered last has a clock %d ms away',
    async (skew) => {
      const last = stored(1, { updatedAt: new Date(WHEN.getTime() + skew) });
      const first = stored(2, { updatedAt: new Date(WHEN.getTime() - 5) });
      expect(await texts(memoryOf([last, first]).memory)).toEqual(['question 2', 'answer 2', 'question 1', 'answer 1']);
    },
  );

  it('is what the log of the Task names, whatever was completed meanwhile', async () => {
    const { memory } = memoryOf([stored(3), stored(1), stored(2)]);
    const { taskIds } = await memoryOf([stored(1), stored(2)]).memory.recallMessages(turn('now'), ROOM);
    expect(taskIds).toEqual(['t2', 't1']);
    expect(await texts(memory, 32_000, ['t2', 'deleted', 't1'])).toEqual([
      'question 2',
      'answer 2',
      'question 1',
      'answer 1',
    ]);
    expect(await texts(memory, 32_000, [])).toEqual([]);
  });

  it('reads on where the logs of a page are too large together, and ends at one that is too large alone', async () => {
    const { memory, store } = memoryOf([stored(1), stored(2), stored(3), stored(4)]);
    const { readPage: page } = store;
    store.readPage = async (query, admission) => {
      // This store returns the Tasks in the reverse order, as one whose clocks differ from the order of completion may.
      const { tasks } = await page(query, admission);
      const [newest] = tasks.toReversed();
      if (newest?.header.taskId === 't4') await admission.admitBytes(query.taskIds!.length === 1 ? 100_000_000 : 0);
      return { tasks: newest ? [newest] : [], more: tasks.length > 1 };
    };
    expect(await texts(memory)).toEqual(['question 3', 'answer 3', 'question 2', 'answer 2', 'question 1', 'answer 1']);
  });

  it('ends where there is no room for a whole turn, and reads no further', async () => {
    const { memory, queries } = memoryOf(Array.from({ length: 100 }, (_, index) => stored(index + 1)));
    expect(await texts(memory, 1000)).toHaveLength(54);
    expect(queries).toHaveLength(3);
    expect(await texts(memory, 10)).toEqual([]);
  });

  it('is nothing where the config says so, or what is there is too large to be read', async () => {
    const { memory, queries } = memoryOf([stored(1)]);
    expect(await memory.recallMessages(turn('now'), { history: 'none', historyTokens: 100 })).toEqual({ messages: [] });
    expect(queries).toEqual([]);
    expect(await texts(memoryOf([stored(1)], {}, 100_000_000).memory)).toEqual([]);
  });

  it('knows nothing of other calls that the same run made for the node, but of those of a conversation', async () => {
    const parent = { parentTaskId: 'run', parentReference: 'a@2#1' };
    const sibling = stored(1, { parentTaskId: 'run', parentReference: 'a@1#1' });
    const other = stored(2, { parentTaskId: 'an earlier run', parentReference: 'a@1#1' });
    expect(await texts(memoryOf([sibling, other], parent).memory)).toEqual(['question 2', 'answer 2']);
    const talk = stored(1, { parentTaskId: 'run', parentReference: 'turn#1' });
    expect(await texts(memoryOf([talk], parent).memory)).toEqual(['question 1', 'answer 1']);
  });

  it('knows every turn of a conversation, also where its node is named as conversations name their calls', async () => {
    const own = { parentTaskId: 'talk', parentReference: 'turn#3', agent: 'workflows/w/nodes/turn' };
    const before = stored(1, { ...own, parentReference: 'turn#1' });
    const { memory } = memoryOf([before], own);
    const call = { scope: { tenant: 't', owner: 'o' }, agent: 'x', extensions: [], baseUrl: '' };
    const { messages } = await memory.recallMessages(turn(talked('now'), { call }), ROOM);
    expect(messages).toHaveLength(2);
    // Without an entry of a conversation, both Tasks count as calls of the same run.
    expect((await memory.recallMessages(turn('now', { call }), ROOM)).messages).toEqual([]);
  });

  it('knows every call that one agent made of it as a tool, also where its node is named as those calls are', async () => {
    const own = { parentTaskId: 'caller', parentReference: 'tool#call_b', agent: 'workflows/w/nodes/tool' };
    const before = stored(1, { ...own, parentReference: 'tool#call_a' });
    expect(await texts(memoryOf([before], own).memory)).toEqual(['question 1', 'answer 1']);
  });

  it('has what an earlier turn of a conversation was told beside its Message, before that', async () => {
    const before = stored(1);
    before.task.history![0] = talked('turn 1', [{ by: 'self', text: 'turn 0' }]);
    expect(await texts(memoryOf([before]).memory)).toEqual(['turn 0', 'turn 1', 'answer 1']);
    before.task.history![0] = { ...before.task.history![0], messageId: 'forged' };
    expect(await texts(memoryOf([before]).memory)).toEqual(['turn 1', 'answer 1']);
  });

  it('has files by their names', async () => {
    const turnWithFile = stored(1);
    turnWithFile.task.history![0]!.parts = [{ raw: 'AAAA', filename: 'cat.png' }, textPart('what is it?')];
    const { memory } = memoryOf([turnWithFile]);
    expect(await texts(memory)).toEqual(['[file cat.png, application/octet-stream, 3 bytes]', 'answer 1']);
  });
});
