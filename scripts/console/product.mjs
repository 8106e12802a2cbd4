/** Running product with data to show: Parley on a separate database, and three stand-alone agents. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runWorkflow, saveWorkflow } from '../demo/parley-api.mjs';
import { ServiceProcess } from '../demo/service-process.mjs';
import { ROOT } from '../prepare.mjs';
import { startRecordedModel } from './recorded-model.mjs';
import { brainstorm, converse } from './talks.mjs';

const EXAMPLE = join(ROOT, 'examples', 'briefing');
const QUIET = { HOST: '127.0.0.1', PORT: '0', DATABASE_URL: '', LOG_LEVEL: 'warn', SHUTDOWN_GRACE: '2' };

export class Product {
  #folder = mkdtempSync(join(tmpdir(), 'parley-screenshots-'));
  #processes = [];
  #model;

  /** Starts all processes. @returns the base URLs of Parley, the agents and the model */
  async start() {
    const parley = this.#run('parley', 'src/main', [], { DATA_DIR: join(this.#folder, 'parley') });
    const [parleyUrl, researcher, critic, thinker] = await Promise.all([
      parley.ready(),
      this.#scripted('researcher').ready(),
      this.#scripted('critic').ready(),
      this.#agent('thinker', ['--role', 'review']).ready(),
    ]);
    this.#model = await startRecordedModel();
    return { parleyUrl, agentUrls: { researcher, critic, thinker }, modelUrl: this.#model.url };
  }

  async stop() {
    await Promise.all(this.#processes.map((process) => process.stop()));
    await this.#model?.stop();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  #scripted(name) {
    return this.#agent(name, ['--script', join(EXAMPLE, `${name}.json`)]);
  }

  #agent(name, what) {
    const args = [...what, '--name', name, '--port', '0', '--data-dir', join(this.#folder, name)];
    return this.#run(name, 'apps/agent/src/main', args, {});
  }

  #run(name, entry, args, env) {
    const logFile = join(this.#folder, `${name}.log`);
    const started = new ServiceProcess(name, entry, { args, env: { ...QUIET, ...env }, logFile });
    this.#processes.push(started);
    return started;
  }
}

/** Creates the data. @returns the names and ids in the addresses of the pictures */
export async function fill({ parleyUrl, agentUrls, modelUrl }) {
  const briefing = JSON.parse(readFileSync(join(EXAMPLE, 'workflow.json'), 'utf8'));
  const agentOf = { research: agentUrls.researcher, critique: agentUrls.critic };
  for (const node of briefing.nodes) if (agentOf[node.id]) node.config.endpoint_url = `${agentOf[node.id]}/a2a`;
  await saveWorkflow(parleyUrl, briefing);
  await saveWorkflow(parleyUrl, REVIEW);
  const runId = await reach(parleyUrl, briefing.name, { topic: 'Why agents need a common protocol' }, 'done');
  const waitingRunId = await reach(parleyUrl, REVIEW.name, { draft: 'Agents talk to agents.' }, 'input.required');
  const language = await examples(parleyUrl);
  const agent = await work(parleyUrl, modelUrl);
  const talk = await converse(parleyUrl);
  const ideas = await brainstorm(parleyUrl, `${agentUrls.thinker}/a2a`);
  return {
    parleyUrl,
    agentUrls,
    workflow: briefing.name,
    runId,
    waitingRunId,
    ...language,
    ...agent,
    ...talk,
    ...ideas,
  };
}

/** Creates a run with a loop, and a run that asks a person. */
async function examples(parleyUrl) {
  const [critic, approval] = ['critic', 'approval'].map((name) =>
    JSON.parse(readFileSync(join(ROOT, 'examples', name, 'workflow.json'), 'utf8')),
  );
  await saveWorkflow(parleyUrl, critic);
  await saveWorkflow(parleyUrl, approval);
  const change = { title: 'Runs wait without a process', risk: 'high' };
  await reach(parleyUrl, approval.name, { change }, 'input.required');
  const loopRunId = await reach(parleyUrl, critic.name, { topic: 'why agents need a common protocol' }, 'done');
  return { loop: critic.name, loopRunId };
}

/** Creates a run of an agent that calls a tool. */
async function work(parleyUrl, baseUrl) {
  const model = { name: 'house', provider: 'openai-compatible', model: 'house-1', baseUrl };
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(`${parleyUrl}/api/models`, { method: 'POST', headers, body: JSON.stringify(model) });
  if (!reply.ok) throw new Error(`Keeping a model failed: ${await reply.text()}`);
  await saveWorkflow(parleyUrl, AGENT);
  const agentRunId = await reach(parleyUrl, AGENT.name, { question: 'How many minutes has a year?' }, 'done');
  return { agentRunId };
}

/** Runs a workflow until an event of a type. @returns the run's id */
async function reach(parleyUrl, name, inputs, type) {
  for await (const event of runWorkflow(parleyUrl, name, inputs)) if (event.type === type) return event.runId;
  throw new Error(`The run of ${name} ended without ${type}`);
}

/** Workflow of an agent that calls a tool. */
const AGENT = {
  name: 'answers',
  nodes: [
    { id: 'question', type: 'input' },
    {
      id: 'answer',
      type: 'agent',
      config: {
        model: 'house',
        system_prompt: 'Answer in one sentence. Calculate with the tool.',
        prompt: '{{question}}',
        tools: ['calculator'],
      },
    },
    { id: 'result', type: 'output' },
  ],
  edges: [
    { from: 'question', to: 'answer' },
    { from: 'answer', to: 'result' },
  ],
};

/** Workflow that asks a person before it continues. */
const REVIEW = {
  name: 'review',
  description: 'Asks an editor before a text is published.',
  nodes: [
    { id: 'draft', type: 'input' },
    { id: 'length', type: 'tool', config: { tool: 'calculator', args: { expression: '6 * 7' } } },
    { id: 'summary', type: 'agent', config: { prompt: 'Summarize: {{draft}}' } },
    {
      id: 'editor',
      type: 'script',
      config: {
        script: {
          rules: [{ when: { turn: 1 }, steps: [{ ask: 'May this be published? Say yes, or what to change.' }] }],
          otherwise: [{ artifact: { parts: [{ text: 'The editor says: {{text}}' }] } }, { complete: 'done' }],
        },
      },
    },
    { id: 'published', type: 'output', config: { prompt: '{{summary}} {{editor}}' } },
  ],
  edges: [
    { from: 'draft', to: 'summary' },
    { from: 'draft', to: 'length' },
    { from: 'summary', to: 'editor' },
    { from: 'length', to: 'editor' },
    { from: 'editor', to: 'published' },
  ],
};
