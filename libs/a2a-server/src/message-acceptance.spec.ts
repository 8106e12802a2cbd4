import { A2AError, invalidParams, type SendMessageRequest, type TaskPushNotificationConfig } from '#libs/protocol';
import { type CheckedPushConfig, PushConfigs, type PushRegistration, type ShownPushConfig } from '#libs/push';
import type { TaskHeader } from '#libs/tasks';
import { type AcceptedMessage, PushNotifications } from './message-acceptance.js';
import { echo, FakeExecutor, servedAgent } from './testing/fake-agents.js';
import { callTo, textRequest } from './testing/fake-service.js';

const AGENT = servedAgent('workflows/echo', new FakeExecutor(echo));
const CALL = callTo('workflows/echo');
const URL = 'http://hook.test/';

/**
 * Records the registrations that it is asked for. Rejects a config with the URL `bad`, and reports the Task `full` as
 * having the maximum number of configs.
 */
class FakeConfigs extends PushConfigs {
  readonly registered: PushRegistration[] = [];
  /** Task and config of each `registerOnce` call, as `task/config`. */
  readonly once: string[] = [];

  checkConfig(config: TaskPushNotificationConfig): CheckedPushConfig {
    if (config.url === 'bad') throw invalidParams({ field: 'url', description: 'is bad' });
    return { ...config, id: config.id ?? 'made' };
  }

  async checkRoom(taskId: string): Promise<void> {
    if (taskId === 'full') throw invalidParams({ field: 'taskId', description: 'is full' });
  }

  async registerConfig(registration: PushRegistration): Promise<ShownPushConfig> {
    this.registered.push(registration);
    return { ...registration.config, taskId: registration.taskId };
  }

  async registerOnce({ taskId, config }: PushRegistration): Promise<void> {
    this.once.push(`${taskId}/${config.id}`);
  }

  registrationJob({ taskId, after }: PushRegistration) {
    return { name: 'register', payload: { taskId, after } };
  }

  async get(): Promise<undefined> {
    return undefined;
  }

  async listConfigs(): Promise<ShownPushConfig[]> {
    return ['a', 'b', 'c'].map((id) => ({ id, taskId: 't', url: URL }));
  }

  async delete(): Promise<void> {}
}

let configs: FakeConfigs;
let push: PushNotifications;

beforeEach(() => {
  configs = new FakeConfigs();
  push = new PushNotifications(find, configs);
});

async function find(_agent: unknown, taskId: string): Promise<TaskHeader> {
  if (taskId === 'foreign') throw new A2AError('TASK_NOT_FOUND');
  return { taskId } as TaskHeader;
}

function pushed(url: string, message: Partial<SendMessageRequest['message']> = {}): SendMessageRequest {
  return { ...textRequest('x', message), configuration: { taskPushNotificationConfig: { url } } };
}

function executed(taskId: string, sequence: number): AcceptedMessage {
  return { execution: { taskId, accepted: Promise.resolve({ sequence }) } } as unknown as AcceptedMessage;
}

describe('a Message with a config', () => {
  it('that makes a Task has a job in its commit, and its config from the first event on', async () => {
    let taken = CALL;
    await push.withConfig(AGENT, pushed(URL), CALL, async (call) => {
      taken = call;
      return executed(call.newTaskId?.() ?? '', 1);
    });
    const taskId = taken.newTaskId?.();
    expect(taken.jobs).toEqual([{ name: 'register', payload: { taskId, after: 0 } }]);
    expect(configs.registered).toMatchObject([{ taskId, after: 0, config: { url: URL }, wireVersion: '1.0' }]);
  });

  it('to a Task has its config from the event that it makes', async () => {
    await push.withConfig(AGENT, pushed(URL, { taskId: 't' }), CALL, async () => executed('t', 5));
    expect(configs.registered).toMatchObject([{ taskId: 't', after: 4 }]);
  });

  it('brings the same config when it comes again', async () => {
    for (const _ of [1, 2]) {
      await push.withConfig(AGENT, pushed(URL, { taskId: 't' }), CALL, async () => executed('t', 5));
    }
    expect(configs.registered[1]?.config.id).toBe(configs.registered[0]?.config.id);
  });

  it('keeps none where it was the repeat of another, or was answered directly', async () => {
    await push.withConfig(AGENT, pushed(URL), CALL, async () => executed('earlier', 1));
    await push.withConfig(AGENT, pushed(URL), CALL, async () => ({ reply: textRequest('y').message }));
    expect(configs.registered).toEqual([]);
  });

  it('of a follow-up that is the repeat of another has it where it is not known', async () => {
    const repeat = { execution: { taskId: 't', accepted: Promise.resolve({ sequence: 5 }), repeated: true } };
    await push.withConfig(AGENT, pushed(URL, { taskId: 't' }), CALL, async () => repeat as unknown as AcceptedMessage);
    expect([configs.registered, configs.once]).toEqual([[], [expect.stringMatching(/^t\/./)]]);
  });

  it.each([
    [pushed('bad'), -32602],
    [pushed(URL, { taskId: 'full' }), -32602],
    [pushed(URL, { taskId: 'foreign' }), -32001],
  ])('is refused before it is taken (%#)', async (request, code) => {
    let taken = false;
    const sent = push.withConfig(AGENT, request, CALL, async () => {
      taken = true;
      return executed('t', 1);
    });
    await expect(sent).rejects.toMatchObject({ code });
    expect([taken, configs.registered]).toEqual([false, []]);
  });
});

describe('the operations', () => {
  it('list pages of a size', async () => {
    const first = await push.listConfigs(AGENT, { taskId: 't', pageSize: 2 }, CALL);
    expect(first.configs.map(({ id }) => id)).toEqual(['a', 'b']);
    const second = await push.listConfigs(AGENT, { taskId: 't', pageSize: 2, pageToken: first.nextPageToken }, CALL);
    expect([second.configs.map(({ id }) => id), second.nextPageToken]).toEqual([['c'], '']);
    await expect(push.listConfigs(AGENT, { taskId: 't', pageToken: 'eA' }, CALL)).rejects.toMatchObject({
      code: -32602,
    });
  });

  it('do not know the Task of somebody else', async () => {
    const one = { taskId: 'foreign', id: 'a', url: URL };
    const calls = [
      push.createConfig(AGENT, one, CALL),
      push.getConfig(AGENT, one, CALL),
      push.listConfigs(AGENT, one, CALL),
      push.deleteConfig(AGENT, one, CALL),
    ];
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: -32001 });
  });

  it('are refused where nothing sends notifications', async () => {
    const none = new PushNotifications(find, undefined);
    expect([push.supported, none.supported]).toEqual([true, false]);
    const sent = none.withConfig(AGENT, pushed(URL), CALL, async () => executed('t', 1));
    await expect(sent).rejects.toMatchObject({ code: -32003 });
    await expect(none.getConfig(AGENT, { taskId: 't', id: 'a' }, CALL)).rejects.toMatchObject({ code: -32003 });
  });
});
