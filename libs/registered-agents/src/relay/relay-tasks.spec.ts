import { Database } from '#libs/postgres';
import { ANONYMOUS_SCOPE, TaskRetention } from '#libs/tasks';
import { RelayTasks } from './relay-tasks.js';

/** Creates RelayTasks whose statements find no rows. @returns it, and the values of its statements */
function recordStatements(): { tasks: RelayTasks; values: unknown[][] } {
  const values: unknown[][] = [];
  const query = async (statement: { values: unknown[] }): Promise<{ rows: object[] }> => {
    values.push(statement.values);
    return { rows: [] };
  };
  const database = Object.assign(Object.create(Database.prototype), { pool: { query } }) as Database;
  return { tasks: new RelayTasks(database, new TaskRetention()), values };
}

describe('RelayTasks', () => {
  it('names each Task once in a statement, with the newest ids of its agent', async () => {
    const { tasks, values } = recordStatements();
    const one = { taskId: 'one', token: 'token 1' };
    const two = { taskId: 'two', token: 'token 2' };
    await Promise.all([
      tasks.keepRemote(one, { contextId: 'context' }),
      tasks.keepRemote(one, { taskId: 'theirs', contextId: 'newer' }),
      tasks.keepRemote(two, { taskId: 'other', contextId: 'context' }),
      tasks.keepRemote(two, { contextId: 'newer' }),
    ]);
    expect(values).toEqual([
      [
        ['one', 'two'],
        ['token 1', 'token 2'],
        ['theirs', 'other'],
        ['newer', 'newer'],
      ],
    ]);
  });

  it('stores two turns of a Task one after the other', async () => {
    const { tasks, values } = recordStatements();
    const talk = { scope: ANONYMOUS_SCOPE, agent: 'agent' };
    const begin = (taskId: string, execution: string): Promise<unknown> =>
      tasks.beginTurn(talk, { taskId, contextId: 'context', messageId: 'message', options: {}, execution });
    await Promise.all([begin('one', 'first'), begin('two', 'first'), begin('one', 'second')]);
    const begun = values.map(([taskIds, , , , , , executions]) => ({ taskIds, executions }));
    expect(begun).toEqual([
      { taskIds: ['one', 'two'], executions: ['first', 'first'] },
      { taskIds: ['one'], executions: ['second'] },
    ]);
  });
});
