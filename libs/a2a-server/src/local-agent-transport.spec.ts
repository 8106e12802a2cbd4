import { A2AError } from '#libs/protocol';
import { LocalAgentTransport } from './local-agent-transport.js';
import { ANONYMOUS_SCOPE as scope } from '#libs/tasks';
import { type FakeService, fakeService, textRequest } from './testing/fake-service.js';

let service: FakeService;
let agents: LocalAgentTransport;

beforeEach(() => {
  service = fakeService();
  agents = new LocalAgentTransport(service.handler);
});

describe('LocalAgentTransport', () => {
  it('streams values and follows, gets and cancels tasks', async () => {
    const kinds: string[] = [];
    let taskId = '';
    for await (const response of agents.send('workflows/echo', textRequest('hi'), { scope })) {
      if ('task' in response) taskId = response.task.id;
      kinds.push(...Object.keys(response));
    }
    expect(kinds).toEqual(['task', 'statusUpdate', 'artifactUpdate', 'statusUpdate']);
    expect((await agents.getTask('workflows/echo', { id: taskId }, { scope })).status.state).toBe(
      'TASK_STATE_COMPLETED',
    );
    await expect(agents.cancelTask('workflows/echo', { id: taskId }, { scope })).rejects.toMatchObject({
      code: -32002,
    });
    await expect(agents.subscribe('workflows/echo', { id: taskId }, { scope }).next()).rejects.toMatchObject({
      code: -32004,
    });
  });

  it('passes on who calls', async () => {
    const parent = { taskId: 'run', reference: 'node#1' };
    let seen: unknown;
    service.executions.begin = (_agent, _request, call) => {
      seen = call;
      throw new A2AError('INTERNAL');
    };
    const whose = { tenant: 't', owner: 'o' };
    await expect(agents.send('workflows/echo', textRequest('hi'), { parent, scope: whose }).next()).rejects.toThrow(
      A2AError,
    );
    expect(seen).toMatchObject({ parent, scope: whose, agent: 'workflows/echo' });
  });

  it('tells an unknown agent as HTTP does', async () => {
    await expect(agents.getTask('workflows/nope', { id: 'x' }, { scope })).rejects.toMatchObject({
      name: 'A2AError',
      code: -32001,
    });
  });
});
