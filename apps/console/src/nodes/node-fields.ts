import type { Config } from '../graph/graph.js';

/** A setting in the config of a node. */
export interface NodeField {
  key: string;
  label: string;
  /** Kind of the input. `wait`, `child`, `agent` and `registered` edit several members together. */
  kind:
    | 'text'
    | 'long-text'
    | 'prompt'
    | 'number'
    | 'json'
    | 'tool'
    | 'flag'
    | 'choice'
    | 'schema'
    | 'form'
    | 'values'
    | 'wait'
    | 'child'
    | 'agent'
    | 'registered';
  placeholder?: string;
  hint?: string;
  /** Values of a choice with their labels; the value `''` removes the member. */
  options?: Readonly<Record<string, string>>;
  /** Minimum of a number. `fallback` replaces an invalid number. */
  min?: number;
  fallback?: number;
  /** Name of a config member that must be set to show the field. `never` names a config member that must not be set. */
  only?: string;
  never?: string;
}

const PROMPT: NodeField = {
  key: 'prompt',
  label: 'Prompt',
  kind: 'prompt',
  placeholder: 'Summarize: {{input1}}',
  hint: 'Type {{ to insert the answer of another node. Without a prompt, the node receives the answers of the nodes before it.',
};

const DATA: NodeField = {
  key: 'data',
  label: 'Data',
  kind: 'json',
  hint: 'Sent with the text. Its texts may have references and ${expressions}.',
};

const AGENT_HINT = 'A name from the directory of agents, or a URL.';

/** Fields of each node type, as the service reads the config. */
export const NODE_FIELDS: Readonly<Record<string, readonly NodeField[]>> = {
  input: [
    {
      key: 'schema',
      label: 'Input schema',
      kind: 'schema',
      hint: 'Validates the input of a run and shapes its form.',
    },
    { key: 'default', label: 'Default', kind: 'json', hint: 'JSON; a text needs quotes.' },
    { key: 'optional', label: 'Optional', kind: 'flag' },
  ],
  agent: [
    PROMPT,
    { key: 'system_prompt', label: 'System prompt', kind: 'long-text' },
    { key: 'model', label: 'Model', kind: 'agent' },
    DATA,
  ],
  tool: [
    { key: 'tool', label: 'Tool', kind: 'tool' },
    { key: 'args', label: 'Arguments', kind: 'json', hint: 'An object. Its texts may have {{templates}}.' },
  ],
  output: [
    { ...PROMPT, placeholder: 'Answer to {{input1}}: {{agent1}}' },
    {
      key: 'schema',
      label: 'Output schema',
      kind: 'schema',
      hint: 'JSON Schema of its data; other data fails the node.',
    },
  ],
  external: [
    { key: 'agent', label: 'Registered agent', kind: 'registered' },
    {
      key: 'skill',
      label: 'Skill',
      kind: 'text',
      only: 'agent',
      hint: 'Id of a skill, if the policy of the agent requires one.',
    },
    {
      key: 'endpoint_url',
      never: 'agent',
      label: 'Endpoint URL',
      kind: 'text',
      placeholder: 'https://agent.example.com/a2a',
      hint: "The agent's base URL, or its card's.",
    },
    { key: 'timeout', label: 'Timeout (seconds)', kind: 'number', min: 1, fallback: 30 },
    PROMPT,
    {
      key: 'auth',
      never: 'agent',
      label: 'Credential',
      kind: 'text',
      hint: 'Name of a stored credential, if the agent requires one.',
    },
    {
      key: 'protocol',
      never: 'agent',
      label: 'Protocol',
      kind: 'choice',
      options: { '': 'As declared in the card', founding: 'Older than A2A 1.0' },
      hint: 'Only for an old agent without a card that answers every method.',
    },
    DATA,
  ],
  script: [{ key: 'script', label: 'Script', kind: 'json', hint: 'Rules, and the steps to take if none matches.' }],
  conversation: [
    { key: 'requester', label: 'Requester', kind: 'text', hint: AGENT_HINT },
    { key: 'target', label: 'Target', kind: 'text', hint: AGENT_HINT },
    { ...PROMPT, key: 'message', label: 'First message' },
    { key: 'maxTurns', label: 'Maximum turns', kind: 'number', min: 0, fallback: 5 },
    { key: 'announce', label: 'Announce to', kind: 'text', hint: AGENT_HINT },
    {
      key: 'instructions',
      label: 'Prompt of a turn',
      kind: 'choice',
      options: { '': 'Only to agents that read it', text: 'As a text before the message' },
      hint: 'Remote agents receive the prompt this way. Agents of this service always receive it.',
    },
  ],
  brainstorm: [
    { ...PROMPT, key: 'idea', label: 'Idea' },
    { key: 'agents', label: 'Agents', kind: 'json', hint: 'Two or more, as [{"agent": "name"}, …].' },
    { key: 'maxIterations', label: 'Maximum passes', kind: 'number', min: 1, fallback: 10 },
    { key: 'systemPrompt', label: 'System prompt', kind: 'long-text' },
  ],
  set: [
    {
      key: 'values',
      label: 'Values',
      kind: 'values',
      hint: 'Other nodes refer to them as nodes.id.data.name. A text that is one ${expression} keeps its type.',
    },
  ],
  wait: [{ key: 'for', label: 'Waits', kind: 'wait' }],
  human: [
    {
      ...PROMPT,
      label: 'Question',
      placeholder: 'Publish {{draft}}?',
      hint: 'Without a question, the answers of the nodes before it are shown.',
    },
    { key: 'assignee', label: 'Assignee', kind: 'text', hint: 'Label to filter the inbox by.' },
    { key: 'form', label: 'Answer', kind: 'form', hint: 'Validates each answer.' },
  ],
  workflow: [{ key: 'workflow', label: 'Runs', kind: 'child' }],
};

/** Returns the fields to show for a config: a field's `only` and `never` are conditions on the config. */
export function shownFields(fields: readonly NodeField[], config: Config): NodeField[] {
  const isSet = (key: string | undefined): boolean => key !== undefined && config[key] !== undefined;
  return fields.filter(({ only, never }) => (only === undefined || isSet(only)) && !isSet(never));
}

/** Initial config of a new node, by type. */
export const FIRST_CONFIG: Readonly<Record<string, Config>> = {
  external: { endpoint_url: '', timeout: 30 },
  tool: { tool: 'calculator' },
  script: { script: { rules: [], otherwise: [{ complete: 'done' }] } },
  conversation: { requester: '', target: '', maxTurns: 5 },
  brainstorm: { agents: [] },
  set: { values: {} },
  wait: { for: '1m' },
};

/** Built-in tools by name, with their descriptions. Other names can be typed. */
export const KNOWN_TOOLS: Readonly<Record<string, string>> = {
  calculator: 'The value of an arithmetic expression',
  current_time: 'The current date and time',
  http_get: 'Reads a web resource by HTTP GET',
};

/** Parses a number. An invalid number, or one below the minimum, becomes the fallback. */
export function parseNumber(text: string, { min = Number.NEGATIVE_INFINITY, fallback = 0 }: NodeField): number {
  const value = Number(text);
  return text.trim() === '' || !Number.isFinite(value) || value < min ? fallback : value;
}
