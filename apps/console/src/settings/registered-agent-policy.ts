import { readNumber, readText, readTexts } from '../components/form-values.js';
import type { RegisteredAgentPolicy } from './registered-agent-api.js';

/** Field of a policy, as it is shown in the form and on the page of an agent. */
interface PolicyField {
  name: keyof RegisteredAgentPolicy;
  label: string;
  hint: string;
  kind: 'texts' | 'number' | 'choice';
}

export const POLICY_FIELDS: readonly PolicyField[] = [
  {
    name: 'forgotten',
    label: 'If the agent forgot a Task',
    hint: 'The same applies to a Message that the agent may or may not have received.',
    kind: 'choice',
  },
  { name: 'wait', label: 'Wait for the agent', hint: 'Seconds. Default: 60.', kind: 'number' },
  { name: 'limit', label: 'Time limit of an answer', hint: 'Seconds. Default: none.', kind: 'number' },
  {
    name: 'park',
    label: 'Park a quiet Task after',
    hint: 'Seconds without an event, if the agent offers push notifications. 0: never. Default: 30.',
    kind: 'number',
  },
  { name: 'concurrency', label: 'Turns at the same time', hint: 'Over all replicas. Default: any.', kind: 'number' },
  { name: 'perMinute', label: 'Messages a minute', hint: 'Over all replicas. Default: any.', kind: 'number' },
  { name: 'maxBytes', label: 'Bytes of a Message', hint: 'As JSON, at most.', kind: 'number' },
  { name: 'callers', label: 'Callers', hint: 'Names, separated by commas. Default: all.', kind: 'texts' },
  { name: 'scopes', label: 'Scopes', hint: 'A caller must have one: agents, workflows, admin.', kind: 'texts' },
  { name: 'skills', label: 'Skills', hint: 'Ids of skills; each Message must name one. Default: any.', kind: 'texts' },
  { name: 'methods', label: 'Operations', hint: 'Such as SendMessage, GetTask. Default: all.', kind: 'texts' },
  { name: 'headers', label: 'Passed headers', hint: 'Request headers in lower case. Default: none.', kind: 'texts' },
];

export const FORGOTTEN_CHOICES = {
  '': 'Fail the Task (default)',
  resend: 'Send the Message again',
  ask: 'Ask the caller',
} as const;

/**
 * Reads the policy of a form.
 * @param before policy before the edit; the anonymous caller (`''`) in its `callers` is kept, since the form cannot
 * show it
 */
export function readPolicyFields(fields: FormData, before: RegisteredAgentPolicy = {}): RegisteredAgentPolicy {
  const entries = POLICY_FIELDS.flatMap(({ name, kind }): [string, unknown][] => {
    if (kind === 'number') return given(name, readNumber(fields, name));
    if (kind === 'choice') return given(name, readText(fields, name));
    const texts = readTexts(fields, name);
    const all = name === 'callers' && before.callers?.includes('') ? ['', ...texts] : texts;
    return all.length === 0 ? [] : [[name, all]];
  });
  return Object.fromEntries(entries) as RegisteredAgentPolicy;
}

function given(name: string, value: unknown): [string, unknown][] {
  return value === undefined ? [] : [[name, value]];
}
