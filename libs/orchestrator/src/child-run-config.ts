import type { ConfigSchema, NodeProblem, NodeSpec } from '#libs/executor';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { WORKFLOW_NAME } from './workflow-problems.js';

const REVISION = /^[1-9]\d{0,17}$/;

/** JSON Schema of the config of a `workflow` node. */
export const CHILD_RUN_CONFIG = {
  type: 'object',
  properties: {
    workflow: { type: 'string', pattern: WORKFLOW_NAME.source, description: 'The name of the workflow that it runs.' },
    revision: {
      type: 'string',
      pattern: REVISION.source,
      description: 'Which revision of it; absent: the newest when this workflow is saved.',
    },
    body: {
      type: 'object',
      description: 'In place of a name: the definition of what it runs, which may leave out its name.',
    },
    inputs: {
      type: 'object',
      description:
        'The inputs by name; absent: what the nodes before it answered. Texts may have {{references}}, and ${expressions} in language 2.',
    },
  },
  oneOf: [requireMember('workflow'), requireMember('body')],
  dependentRequired: { revision: ['workflow'] },
} satisfies ConfigSchema;

/** Returns the problems of a `workflow` node's config, a sentence each. */
export function findChildRunProblems({ id, config }: NodeSpec): NodeProblem[] {
  const { workflow, revision, body, inputs } = config;
  const matchesPattern = (value: JsonValue, pattern: RegExp): boolean =>
    typeof value === 'string' && pattern.test(value);
  const wrong: [boolean, string, string?][] = [
    [(workflow === undefined) === (body === undefined), 'must have either workflow or body'],
    [revision !== undefined && workflow === undefined, 'revision stands with workflow alone', 'revision'],
    [
      workflow !== undefined && !matchesPattern(workflow, WORKFLOW_NAME),
      'workflow must be the name of a workflow',
      'workflow',
    ],
    [
      revision !== undefined && !matchesPattern(revision, REVISION),
      'revision must be a revision: digits in a string',
      'revision',
    ],
    [body !== undefined && !isJsonObject(body), 'body must be an object', 'body'],
    [inputs !== undefined && !isJsonObject(inputs), 'inputs must be an object', 'inputs'],
  ];
  return wrong
    .filter(([holds]) => holds)
    .map(([, sentence, member]) => ({
      path: member === undefined ? 'config' : `config.${member}`,
      detail: `workflow node "${id}": ${sentence}`,
    }));
}

function requireMember(member: string): JsonObject {
  return { properties: { [member]: true }, required: [member] };
}
