import type { Task } from '#libs/protocol';
import { rest, rpc, sendTask } from '../support/a2a.js';
import { GatewayClient } from '../support/gateway-client.js';
import {
  apiAsks,
  type Ask,
  grpcAsks,
  jsonRpcAsks,
  legacyAsks,
  mcpAsks,
  nobodys,
  restAsks,
} from '../support/stranger.js';
import {
  AGENT_ROUTES,
  BRAINSTORM_ROUTES,
  CARD_ROUTES,
  CONVERSATION_ROUTES,
  CREDENTIAL_ROUTES,
  DELIVERY_ROUTES,
  FILE_ROUTES,
  LIMIT_ROUTES,
  MCP_SERVER_ROUTES,
  MODEL_ROUTES,
  PROMPT_ROUTES,
  RUN_ROUTES,
  SCHEDULE_ROUTES,
  TRIGGER_ROUTES,
  WORKFLOW_ROUTES,
  askedRoutes,
} from '../support/stranger-routes.js';
import { mcp } from '../support/mcp.js';
import { type Annas, SECRET, STRANGERS, type StrangerStage, useStrangers, WORLDS } from '../support/stranger-stage.js';
import { SseReader } from '../support/sse.js';
import { until } from '../support/until.js';
import { input, linear, output, says, script, unique } from '../support/workflow.js';

const TASKS: [string, (annas: Annas) => string][] = [
  ['a Task that waits', ({ waiting }) => waiting.id],
  ['a Task that has ended', ({ ended }) => ended.id],
  ['a Task of a node', ({ child }) => child],
  ['a conversation', ({ conversation }) => conversation],
  ['a brainstorm', ({ brainstorm }) => brainstorm],
];

describe.each(WORLDS)('AUTH_MODE=%s', (mode) => {
  const strangers = useStrangers(mode);
  describe.each([...STRANGERS[mode]])('what is %s’s', (other) => isUnknownTo(strangers, other));
  // The last: its questions end what there is.
  describe('what is one’s own', () => isKnown(strangers));

  it('every route of the API that takes an id is asked', async () => {
    const { body } = await strangers.ann.call<OpenApi>('GET', '/../docs-json');
    const routes = Object.entries(body.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '{}')}`),
    );
    const taking = routes.filter((route) => route.includes('{}') && !ADMINISTRATORS.test(route) && !SIGNED.test(route));
    expect(taking.length).toBeGreaterThan(20);
    expect(taking.filter((route) => !askedRoutes().has(route))).toEqual([]);
  });
});

interface OpenApi {
  paths: Record<string, Record<string, unknown>>;
}

/** Keys belong to the service: where there are keys there is one tenant, and its administrators keep them all. */
const ADMINISTRATORS = / \/api\/keys\//;
/** Opened by a signature, or by the token of a webhook, for every caller. */
const SIGNED = / \/(files|agent-notifications|hooks)\//;

function isUnknownTo(strangers: StrangerStage, other: string): void {
  const who = () => strangers.stranger(other).headers;
  const bases = (): string[] => {
    const { workflow } = strangers;
    const eve = strangers.stranger(other);
    return [`${eve.url}/a2a`, eve.base(workflow), eve.base(workflow, 'q'), `${eve.url}/a2a/nodes/q`];
  };
  const paths = (): string[] => ['', `workflows/${strangers.workflow}`, `workflows/${strangers.workflow}/nodes/q`];

  // The same of each Task, so that what an id that nobody has is answered is asked for once.
  const overHttp = [...jsonRpcAsks(who), ...restAsks(who), ...legacyAsks(who)];
  const overGrpc = grpcAsks(strangers.grpc, who);
  const overMcp = mcpAsks(who, () => strangers.workflow);
  const ofRuns = apiAsks(who, RUN_ROUTES);

  // Who shares the tenant is asked of as in the other world, where there is one tenant.
  const tasks = other === 'another caller of the tenant' ? TASKS.slice(0, 1) : TASKS;
  describe.each(tasks)(`%s of ${other}`, (_what, idOf) => {
    it.each(overHttp)('is for $name as any id', async (ask) => {
      for (const base of bases()) await strangers.expectUnknown(ask, base, idOf(strangers.annas));
    });

    it.each(overGrpc)('is for $name as any id', async (ask) => {
      for (const path of paths()) await strangers.expectUnknown(ask, path, idOf(strangers.annas));
    });

    it.each(overMcp)('is for $name as any id', async (ask) => {
      const { url } = strangers.ann;
      for (const base of [`${url}/mcp`, `${url}/mcp/workflows/${strangers.workflow}`]) {
        await strangers.expectUnknown(ask, base, idOf(strangers.annas));
      }
    });

    it.each(ofRuns)('is for $name as any id', async (ask) => {
      await strangers.expectUnknown(ask, strangers.ann.url, idOf(strangers.annas));
    });
  });

  it.each(apiAsks(who, PROMPT_ROUTES))(`a prompt of ${other} is for $name as any id`, async (ask) => {
    await strangers.expectUnknown(ask, strangers.ann.url, strangers.annas.prompted);
  });

  it.each(apiAsks(who, CONVERSATION_ROUTES))(`a conversation of ${other} is for $name as any id`, async (ask) => {
    await strangers.expectUnknown(ask, strangers.ann.url, strangers.annas.conversation);
  });

  it.each(apiAsks(who, BRAINSTORM_ROUTES))(`a brainstorm of ${other} is for $name as any id`, async (ask) => {
    await strangers.expectUnknown(ask, strangers.ann.url, strangers.annas.brainstorm);
  });

  it.each(apiAsks(who, FILE_ROUTES))(`a file of ${other} is for $name as any id`, async (ask) => {
    await strangers.expectUnknown(ask, strangers.ann.url, strangers.annas.file);
  });

  it(`a delivery of ${other} is sent again to nobody`, async () => {
    const [ask] = apiAsks(who, DELIVERY_ROUTES);
    const before = (await deliveries()).find(({ id }) => id === strangers.annas.delivery);
    await strangers.expectUnknown(ask!, strangers.ann.url, strangers.annas.delivery);
    expect((await deliveries()).find(({ id }) => id === strangers.annas.delivery)).toEqual(before);
    expect((await strangers.stranger(other).call('GET', '/deliveries')).body).toMatchObject({ deliveries: [] });
  });

  async function deliveries(): Promise<{ id: string; attempts: number }[]> {
    const { ended } = strangers.annas;
    const { body } = await strangers.ann.call('GET', `/deliveries?taskId=${ended.id}`);
    return (body as never as { deliveries: { id: string; attempts: number }[] }).deliveries;
  }

  it.each(['conversationId', 'taskId', 'contextId', 'runId'])(
    `the gateway shows no ${'%s'} of ${other}`,
    async (name) => {
      const { annas } = strangers;
      const eve = strangers.stranger(other);
      const value =
        { conversationId: annas.conversation, contextId: annas.waiting.contextId }[name] ?? annas.waiting.id;
      const [mine, any] = [
        { [name]: value, streams: 'task,run,a2a' },
        { [name]: nobodys(value), streams: 'task,run,a2a' },
      ];
      const sockets = [await GatewayClient.open(eve.url, mine, eve), await GatewayClient.open(eve.url, any, eve)];
      const open = (query: Record<string, string>) =>
        SseReader.open(`${eve.url}/api/events?${new URLSearchParams(query).toString()}`, { headers: eve.headers });
      const streams = [await open(mine), await open(any)];
      await follow(annas.waiting, 'more');
      await sawOwn();
      expect(sockets.map(({ events }) => events)).toEqual([[], []]);
      expect(streams.map(({ frames }) => frames.map(({ event }) => event))).toEqual([
        streams[1]!.frames.map(({ event }) => event),
        streams[1]!.frames.map(({ event }) => event),
      ]);
      streams.forEach((it) => it.abort());
      await Promise.all(sockets.map((it) => it.cut()));
    },
  );

  /** Something of Ann's happens. */
  async function follow({ id }: Task, text: string): Promise<void> {
    const { ann, workflow } = strangers;
    await sendTask(ann.base(workflow), text, { headers: ann.headers, fields: { taskId: id } });
  }

  /** The gateway has shown Eve what came after it. */
  async function sawOwn(): Promise<void> {
    const eve = strangers.stranger(other);
    const all = await GatewayClient.open(eve.url, { streams: 'task' }, eve);
    const { name } = await eve.save(linear(unique('own'), input('in'), output('out')));
    await sendTask(eve.base(name), 'x', { headers: eve.headers });
    await until(() => all.events.length > 0, { what: 'an own event' });
    await all.cut();
  }

  it(`a context of ${other} is a new one`, async () => {
    const { annas } = strangers;
    const eve = strangers.stranger(other);
    const { name } = await eve.save(linear(unique('own'), input('in'), script('s', ...says('mine')), output('out')));
    const { contextId } = annas.waiting;
    const mine = await sendTask(eve.base(name), 'x', { headers: eve.headers, fields: { contextId } });
    expect([mine.contextId, mine.status.state]).toEqual([contextId, 'TASK_STATE_COMPLETED']);
    expect(mine.history?.map(({ parts }) => parts[0]?.text)).toEqual(['x', 'mine']);
    expect(JSON.stringify(mine)).not.toContain(SECRET);
    const listed = await rpc(`${eve.url}/a2a`, 'ListTasks', { contextId }, { headers: eve.headers });
    const ids = (listed.body.result as { tasks: Task[] }).tasks.map(({ id }) => id);
    expect(ids.toSorted()).toEqual((await idsIn(contextId, eve.headers)).toSorted());
    expect(ids).toContain(mine.id);
    expect(ids).not.toContain(annas.waiting.id);
    expect(await idsIn(contextId, strangers.ann.headers)).not.toContain(mine.id);
  });

  async function idsIn(contextId: string, headers: Record<string, string>): Promise<string[]> {
    const { body } = await rpc(`${strangers.ann.url}/a2a`, 'ListTasks', { contextId }, { headers });
    return (body.result as { tasks: Task[] }).tasks.map(({ id }) => id);
  }

  it(`a Task of ${other} that is referred to is told nothing of`, async () => {
    const { annas } = strangers;
    const eve = strangers.stranger(other);
    const { name } = await eve.save(linear(unique('own'), input('in'), script('s', ...says('mine')), output('out')));
    const refer = async (id: string) => {
      const fields = { referenceTaskIds: [id] };
      const task = await sendTask(eve.base(name), 'x', { headers: eve.headers, fields });
      return { state: task.status.state, artifacts: task.artifacts?.map(({ parts }) => parts) };
    };
    expect(await refer(annas.waiting.id)).toEqual(await refer(nobodys(annas.waiting.id)));
  });

  it.each(['cancel', 'rerun'])(`runs of ${other} are unknown to a %s of several`, async (action) => {
    const all = Object.values(ids(strangers.annas));
    const { status, body } = await strangers.stranger(other).call('POST', `/runs/${action}`, { ids: all });
    const refused = [...new Set(all)].map((runId) => ({ runId, outcome: 'refused', reason: 'run not found' }));
    expect([status, body]).toEqual([200, { dryRun: false, runs: refused, more: false }]);
  });

  it(`what ${other} has stays as it was`, async () => {
    const { ann, annas, workflow } = strangers;
    expect((await ann.run(annas.waiting.id)).status).toBe('input-required');
    const own = await rpc<Task>(ann.base(workflow), 'GetTask', { id: annas.waiting.id }, { headers: ann.headers });
    expect(JSON.stringify(own.body.result)).not.toContain('mine');
    for (const id of [annas.waiting.id, annas.ended.id, annas.child]) {
      const configs = await rpc(`${ann.url}/a2a`, 'ListTaskPushNotificationConfigs', { taskId: id }, ann);
      expect(configs.body.result).toMatchObject({ configs: [{ id: 'c' }] });
    }
    expect((await ann.call('GET', `/brainstorms/${annas.brainstorm}`)).body).toMatchObject({ status: 'converged' });
    expect((await ann.call('GET', `/files/${annas.file}`)).text).toBe(SECRET);
    const talk = await ann.call('GET', `/conversations/${annas.conversation}`);
    expect(talk.body).not.toMatchObject({ outcome: 'canceled' });
  });

  it(`what ${other} has is in no list`, async () => {
    const { ann, annas, workflow } = strangers;
    const eve = strangers.stranger(other);
    const { body } = await rpc<{ tasks: Task[] }>(`${eve.url}/a2a`, 'ListTasks', { pageSize: 100 }, eve);
    const listed = body.result!.tasks.map(({ id }) => id);
    expect(Object.values(ids(annas)).filter((id) => listed.includes(id))).toEqual([]);
    expect(JSON.stringify(body)).not.toContain(SECRET);
    const overRest = await rest<{ tasks: Task[] }>(`${eve.url}/a2a`, 'GET', '/tasks?pageSize=100', eve);
    const overGrpc = await strangers.grpc.call<{ tasks: Task[] }>('', 'ListTasks', { pageSize: 100 }, eve.headers);
    for (const tasks of [overRest.body.tasks, overGrpc.result!.tasks]) {
      expect(tasks.map(({ id }) => id)).toEqual(listed);
    }
    const runs = ['/runs', `/runs?search=${annas.waiting.id.slice(-6)}`, `/runs?search=${workflow}`, '/runs.csv'];
    for (const path of [...runs, '/conversations', '/brainstorms', '/deliveries']) {
      const { text } = await eve.call('GET', path);
      expect(Object.values(ids(annas)).filter((id) => text.includes(id))).toEqual([]);
    }
    expect((await ann.call('GET', `/runs?workflow=${workflow}`)).text).toContain(annas.waiting.id);
    for (const count of [
      `/runs/count?workflow=${workflow}`,
      `/runs/count?workflow=${workflow}&since=2026-01-01T00:00:00Z`,
    ]) {
      expect((await eve.call('GET', count)).body).toEqual({ runs: 0, more: false });
      expect((await ann.call('GET', count)).body).not.toEqual({ runs: 0, more: false });
    }
  });

  if (other === 'another tenant') isForeignTo(strangers, other);
}

/** What the callers of one tenant share is nobody else's. */
function isForeignTo(strangers: StrangerStage, other: string): void {
  const who = () => strangers.stranger(other).headers;

  it.each(sharedAsks(who))(`what ${other} shares is for $name as any id`, async ({ idOf, ...ask }) => {
    await strangers.expectUnknown(ask, strangers.ann.url, idOf(strangers));
  });

  it(`a workflow of a name that ${other} uses is one’s own`, async () => {
    const { ann, workflow } = strangers;
    const eve = strangers.stranger(other);
    const before = await ann.call('GET', `/workflows/${workflow}`);
    const made = await eve.call('PUT', `/workflows/${workflow}`, linear(workflow, output('mine')));
    expect([made.status, made.body]).toEqual([201, expect.objectContaining({ revision: '1' })]);
    expect((await ann.call('GET', `/workflows/${workflow}`)).text).toBe(before.text);
    expect((await eve.call('DELETE', `/workflows/${workflow}`)).status).toBe(204);
  });

  it(`what ${other} shares is in no list`, async () => {
    const { ann, annas, workflow } = strangers;
    for (const [path, shown] of [
      ['/api/workflows', workflow],
      ['/api/credentials', annas.credential],
      ['/api/mcp-servers', annas.mcpServer],
      ['/api/agents', annas.agent],
      ['/a2a/agents', annas.agent],
      ['/api/models', annas.model],
      ['/api/limits', annas.limit],
      ['/api/schedules', annas.schedule],
      ['/api/triggers', annas.trigger],
      ['/api/agent-cards', annas.card],
      ['/a2a/agents', workflow],
      ['/a2a/.well-known/agent-card.json', workflow],
      ...[workflow, annas.agent].map((it) => ['/.well-known/ai-catalog.json', it] as const),
    ] as const) {
      const [own, foreign] = [ann.headers, who()].map(async (headers) =>
        (await fetch(`${ann.url}${path}`, { headers })).text(),
      );
      expect([path, (await own)?.includes(shown), (await foreign)?.includes(shown)]).toEqual([path, true, false]);
    }
    const tools = async (headers: Record<string, string>) =>
      (await mcp(`${ann.url}/mcp`, 'tools/list', {}, { headers })).text;
    expect([(await tools(ann.headers)).includes(workflow), (await tools(who())).includes(workflow)]).toEqual([
      true,
      false,
    ]);
  });

  it(`a workflow of ${other} is no tool, as one that nobody has`, async () => {
    const { ann, workflow } = strangers;
    const call =
      (name: string): Ask['ask'] =>
      (url) =>
        mcp(url, 'tools/call', { name }, { headers: who() });
    const unknown: Ask = {
      name: 'tools/call',
      elsewhere: /"code":-32602,"message":"workflow/,
      ask: (url, id) => call(id)(url, id),
    };
    await strangers.expectUnknown(unknown, `${ann.url}/mcp`, workflow);
    const listed: Ask = {
      name: 'tools/list',
      ask: (url, id) => mcp(`${url}/${id}`, 'tools/list', {}, { headers: who() }),
    };
    await strangers.expectUnknown(listed, `${ann.url}/mcp/workflows`, workflow);
  });
}

function sharedAsks(who: () => Record<string, string>) {
  return [
    ...apiAsks(who, CREDENTIAL_ROUTES).map((ask) => ({ ...ask, idOf: ({ annas }: StrangerStage) => annas.credential })),
    ...apiAsks(who, MCP_SERVER_ROUTES).map((ask) => ({ ...ask, idOf: ({ annas }: StrangerStage) => annas.mcpServer })),
    ...apiAsks(who, AGENT_ROUTES).map((ask) => ({ ...ask, idOf: ({ annas }: StrangerStage) => annas.agent })),
    ...apiAsks(who, MODEL_ROUTES).map((ask) => ({ ...ask, idOf: ({ annas }: StrangerStage) => annas.model })),
    ...apiAsks(who, LIMIT_ROUTES).map((ask) => ({ ...ask, idOf: ({ annas }: StrangerStage) => annas.limit })),
    ...apiAsks(who, SCHEDULE_ROUTES).map((ask) => ({ ...ask, idOf: ({ annas }: StrangerStage) => annas.schedule })),
    ...apiAsks(who, TRIGGER_ROUTES).map((ask) => ({ ...ask, idOf: ({ annas }: StrangerStage) => annas.trigger })),
    ...apiAsks(who, CARD_ROUTES).map((ask) => ({ ...ask, idOf: ({ annas }: StrangerStage) => annas.card })),
    ...apiAsks(who, WORKFLOW_ROUTES).map((ask) => ({ ...ask, idOf: ({ workflow }: StrangerStage) => workflow })),
  ];
}

/** Else the questions above would show nothing: whoever asks in a wrong way hears the same of every id. */
function isKnown(strangers: StrangerStage): void {
  const who = () => strangers.ann.headers;

  it.each([...jsonRpcAsks(who), ...restAsks(who), ...legacyAsks(who)])('is answered $name', async (ask) => {
    const { annas, ann } = strangers;
    // The founding dialect is spoken at the alias of a node only.
    if (ask.name.includes('a2a.')) await strangers.expectKnown(ask, `${ann.url}/a2a/nodes/q`, annas.child);
    else await strangers.expectKnown(ask, `${ann.url}/a2a`, annas.ended.id);
    await keepConfig();
  });

  it.each(grpcAsks(strangers.grpc, who))('is answered $name', async (ask) => {
    await strangers.expectKnown(ask, '', strangers.annas.ended.id);
    await keepConfig();
  });

  it.each(mcpAsks(who, () => strangers.workflow))('is answered $name', async (ask) => {
    // A call goes on with a Task of its own workflow alone.
    await strangers.expectKnown(ask, `${strangers.ann.url}/mcp`, strangers.annas.waiting.id);
  });

  it.each([
    ...apiAsks(who, RUN_ROUTES).map((ask) => ({
      ...ask,
      idOf: ({ waiting, ended }: Annas) => (ask.name.includes('/nodes/') ? waiting.id : ended.id),
    })),
    ...apiAsks(who, PROMPT_ROUTES).map((ask) => ({ ...ask, idOf: (annas: Annas) => annas.prompted })),
    ...apiAsks(who, CONVERSATION_ROUTES).map((ask) => ({ ...ask, idOf: (annas: Annas) => annas.conversation })),
    ...apiAsks(who, BRAINSTORM_ROUTES).map((ask) => ({ ...ask, idOf: (annas: Annas) => annas.brainstorm })),
    ...apiAsks(who, FILE_ROUTES).map((ask) => ({ ...ask, idOf: (annas: Annas) => annas.file })),
  ])('is answered $name', async ({ idOf, ...ask }) => {
    await strangers.expectKnown(ask, strangers.ann.url, idOf(strangers.annas));
  });

  it.each(sharedAsks(who))('is answered $name', async ({ idOf, ...ask }) => {
    await strangers.expectKnown(ask, strangers.ann.url, idOf(strangers));
  });

  /** The questions about configs change them. */
  async function keepConfig(): Promise<void> {
    const { ann, annas } = strangers;
    const config = { taskId: annas.ended.id, id: 'c', url: 'http://127.0.0.1:9/hook' };
    await rpc(`${ann.url}/a2a`, 'CreateTaskPushNotificationConfig', config, ann);
  }
}

function ids({ waiting, ended, ...others }: Annas): Record<string, string> {
  return { ...others, waiting: waiting.id, ended: ended.id };
}
