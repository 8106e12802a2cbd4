import type { Task } from '#libs/protocol';
import { rpc, sendTask } from './a2a.js';
import { apiKeyEnv, testCaller } from './callers.js';
import { Talks } from './conversation.js';
import { keepCredential, newSecret } from './credentials.js';
import { BrainstormApi, transforms } from './brainstorm.js';
import { GrpcWire } from './grpc-wire.js';
import { IdentityProvider } from './identity-provider.js';
import { type Stage, useStage } from './stage.js';
import { type Ask, isDenial, isFault, isUnknown, nobodys, told, type Told } from './stranger.js';
import { until } from './until.js';
import { WebhookReceiver } from './webhook-receiver.js';
import type { Endpoints, Headers } from './wire-binding.js';
import { DoorAgent } from './door-agent.js';
import { openDoor } from './doors.js';
import { keepMcpServer } from './mcp-http-server.js';
import { Api, echo, input, linear, output, says, script, unique } from './workflow.js';

/** Who is not Ann, where callers have keys, and where their tokens name their tenants. */
export const STRANGERS = {
  'api-key': ['another caller'],
  jwt: ['another caller of the tenant', 'another tenant'],
} as const;

export const WORLDS = ['api-key', 'jwt'] as const;

/** What of Ann's a stranger asks for. */
export interface Annas {
  /** A Task that waits, one that has ended, and one of a node: each with a push config `c`. */
  waiting: Task;
  ended: Task;
  child: string;
  /** A Task of a node that has called a model. */
  prompted: string;
  conversation: string;
  brainstorm: string;
  delivery: string;
  file: string;
  /** What she shares with the callers of her tenant. */
  credential: string;
  mcpServer: string;
  agent: string;
  model: string;
  card: string;
}

/** A service on which Ann has some of everything, and strangers nothing. */
export interface StrangerStage {
  readonly stage: Stage;
  readonly ann: Api;
  /** The API as one of STRANGERS calls it. */
  stranger(who: string): Api;
  readonly annas: Annas;
  readonly workflow: string;
  readonly grpc: GrpcWire;
  /** Fails where the owner of an id gets the same answer as for an id that nobody has, one like it, or a fault. */
  expectKnown(ask: Ask, base: string, id: string): Promise<void>;
  /** Fails where an id of Ann's is not answered as one that nobody has, which is not found, or a word of hers is told. */
  expectUnknown(ask: Ask, base: string, id: string): Promise<void>;
}

export function useStrangers(mode: (typeof WORLDS)[number]): StrangerStage {
  const env: Record<string, string> = { GRPC_PORT: '0' };
  const endpoints: Endpoints = { url: '', grpc: '' };
  const denials = new Denials();
  let headers: Callers;
  let provider: IdentityProvider | undefined;
  beforeAll(async () => {
    if (mode === 'jwt') provider = await IdentityProvider.start();
    headers = provider ? await tokens(env, provider) : keys(env);
  });
  const stage = useStage({ env });
  afterAll(() => provider?.stop());
  const strangers = {
    stage,
    grpc: new GrpcWire(() => endpoints),
    stranger: (who: string) => new Api(stage.parley.url, headers.strangers[who]),
    expectUnknown: async (ask: Ask, base: string, id: string) => {
      const [foreign, { unknown, words }] = [await ask.ask(base, id), await denials.of(ask, base, id)];
      expect(told(foreign, id)).toEqual(words);
      const seen = { status: unknown.status, said: unknown.text ?? unknown.body };
      expect({ ...seen, denial: isDenial(ask, unknown) && !isFault(unknown) }).toEqual({ ...seen, denial: true });
      expect(JSON.stringify(foreign.body ?? foreign.text)).not.toContain(SECRET);
    },
    expectKnown: async ({ ask }: Ask, base: string, id: string) => {
      const [own, unknown] = [await ask(base, id), await ask(base, nobodys(id))];
      expect(told(own, id)).not.toEqual(told(unknown, nobodys(id)));
      const seen = { status: own.status, said: own.text ?? own.body };
      expect({ ...seen, fault: isFault(own), unknown: isUnknown(own) }).toEqual({
        ...seen,
        fault: false,
        unknown: false,
      });
    },
  } as { -readonly [key in keyof StrangerStage]: StrangerStage[key] };
  beforeAll(async () => {
    strangers.ann = new Api(stage.parley.url, headers.ann);
    strangers.workflow = unique('asks');
    Object.assign(endpoints, await endpointsOf(stage.parley.url));
    strangers.annas = await everything(strangers);
  });
  return strangers;
}

/** What is answered of an id that nobody has, asked for once at each place: it is the same of any. */
class Denials {
  private readonly known = new WeakMap<Ask, Map<string, Denial>>();

  async of(ask: Ask, base: string, id: string): Promise<Denial> {
    const places = this.known.get(ask) ?? new Map<string, Denial>();
    this.known.set(ask, places);
    const before = places.get(base);
    if (before) return before;
    const unknown = await ask.ask(base, nobodys(id));
    const denial = { unknown, words: told(unknown, nobodys(id)) };
    places.set(base, denial);
    return denial;
  }
}

interface Denial {
  unknown: Told;
  /** Without what names the request. */
  words: unknown;
}

async function endpointsOf(url: string): Promise<Endpoints> {
  const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as {
    supportedInterfaces: { url: string; protocolBinding: string }[];
  };
  return { url, grpc: card.supportedInterfaces.find((it) => it.protocolBinding === 'GRPC')?.url ?? '' };
}

/** What a Task of Ann's says. */
export const SECRET = 'Which one, dear Ann?';

async function everything({ stage, ann, workflow }: StrangerStage): Promise<Annas> {
  const { headers } = ann;
  const hook = await WebhookReceiver.start();
  stage.defer(() => hook.stop());
  const config = { id: 'c', url: hook.url };
  await ann.save(linear(workflow, input('in'), script('q', { ask: SECRET }), output('out')));
  const told_ = await ann.save(linear(unique('says'), input('in'), script('s', ...says(SECRET)), output('out')));
  const configuration = { taskPushNotificationConfig: config };
  const waiting = await sendTask(ann.base(workflow), 'hi', { headers, configuration });
  const ended = await sendTask(ann.base(told_.name), 'hi', { headers, configuration });
  const prompting = await ann.save(linear(unique('prompts'), echo('a', { model: 'echo', system_prompt: SECRET })));
  const prompted = (await sendTask(ann.base(prompting.name, 'a'), 'hi', { headers })).id;
  const child = (await ann.run(waiting.id)).nodes['q']!.taskId!;
  await rpc(ann.base(workflow, 'q'), 'CreateTaskPushNotificationConfig', { taskId: child, ...config }, { headers });
  return {
    waiting,
    ended,
    child,
    prompted,
    conversation: await conversation(ann, workflow),
    brainstorm: await brainstorm(stage, ann),
    delivery: await delivery(ann, ended.id),
    file: await file(ann),
    credential: await keepCredential(ann, { kind: 'api-key', value: newSecret() }),
    mcpServer: await keepMcpServer(ann),
    agent: await agent(stage, ann),
    model: await model(ann),
    card: await card(ann),
  };
}

async function file(ann: Api): Promise<string> {
  const sent = { 'content-type': 'text/plain' };
  const { body } = await ann.call<{ files: { id: string }[] }>('POST', '/upload', SECRET, sent);
  return body.files[0]!.id;
}

async function agent(stage: Stage, { url, headers }: Api): Promise<string> {
  const elsewhere = await DoorAgent.start();
  stage.defer(() => elsewhere.end());
  return (await openDoor(url, elsewhere.url, {}, headers)).name;
}

async function model(ann: Api): Promise<string> {
  const name = unique('model');
  await ann.call('POST', '/models', { name, provider: 'openai', model: 'hers' });
  return name;
}

/** Of an agent that she called. */
async function card(ann: Api): Promise<string> {
  const { body } = await ann.call<{ cards: { id: string }[] }>('GET', '/agent-cards');
  const [first] = body.cards;
  if (first === undefined) throw new Error('No agent that was called has a card');
  return first.id;
}

async function conversation(ann: Api, workflow: string): Promise<string> {
  const agent = ann.base(workflow, 'q');
  return new Talks(ann).start({ requester: agent, target: agent, message: SECRET, maxTurns: 1 });
}

async function brainstorm(stage: Stage, ann: Api): Promise<string> {
  const agents = [await stage.fake(), await stage.fake()];
  for (const agent of agents) agent.always(transforms());
  const storms = new BrainstormApi(ann);
  const id = await storms.start(agents, { idea: SECRET });
  await storms.rested(id);
  return id;
}

async function delivery(ann: Api, taskId: string): Promise<string> {
  const first = async () => {
    const { body } = await ann.call<{ deliveries: { id: string }[] }>('GET', `/deliveries?taskId=${taskId}`);
    return body.deliveries[0]?.id;
  };
  return until(first, { what: 'a delivery' });
}

interface Callers {
  ann: Headers;
  /** By what they are. */
  strangers: Record<string, Headers>;
}

function keys(env: Record<string, string>): Callers {
  const [ann, eve] = [testCaller('ann'), testCaller('eve')];
  Object.assign(env, apiKeyEnv(ann, eve));
  return { ann: ann.headers, strangers: { 'another caller': eve.headers } };
}

/** Another name in the same tenant, and the same name in another one. */
async function tokens(env: Record<string, string>, provider: IdentityProvider): Promise<Callers> {
  Object.assign(env, provider.env());
  const scope = 'agents workflows admin';
  return {
    ann: await provider.headers({ sub: 'ann', org: 'acme', scope }),
    strangers: {
      'another caller of the tenant': await provider.headers({ sub: 'eve', org: 'acme', scope }),
      'another tenant': await provider.headers({ sub: 'ann', org: 'evil', scope }),
    },
  };
}
