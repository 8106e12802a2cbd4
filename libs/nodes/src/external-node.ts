import type { AgentDirectory } from '#libs/a2a-client';
import type { RemoteContexts } from '#libs/agent-calls';
import type { AgentExecutor, CallChains, NodeProblem, NodeSpec, NodeType } from '#libs/executor';
import { hasUserinfo, type JsonValue, LONGEST_URL, NO_USERINFO, TOO_LONG_URL } from '#libs/protocol';
import { ConfigProblems } from './config-problems.js';
import { configSchema, DATA, PROMPT } from './config-schema.js';
import {
  DEFAULT_TIMEOUT_SECONDS,
  ExternalExecutor,
  LONGEST_TIMEOUT_SECONDS,
  missingEndpoint,
} from './external-executor.js';

/** Pattern only: a run checks whether the credential exists, as workflows may be saved before their credentials. */
const CREDENTIAL_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

/** `external`: remote A2A agent. This executor serves the node's own URL; a run calls the remote agent directly. */
export class ExternalNode implements NodeType {
  readonly name = 'external';
  readonly configSchema = configSchema(
    {
      endpoint_url: {
        type: 'string',
        maxLength: LONGEST_URL,
        pattern: '^[hH][tT][tT][pP][sS]?:',
        description: "The agent's base URL, or the URL of its card.",
      },
      timeout: {
        type: 'number',
        minimum: 1,
        maximum: LONGEST_TIMEOUT_SECONDS,
        default: DEFAULT_TIMEOUT_SECONDS,
        description: 'Seconds until the call counts as failed.',
      },
      auth: { type: 'string', pattern: CREDENTIAL_NAME.source, description: 'The name of a stored credential.' },
      protocol: {
        enum: ['founding'],
        description:
          'The protocol that the agent speaks, from before A2A 1.0; absent: what its card says, or what it is found to speak.',
      },
      history: {
        enum: ['context', 'none'],
        description:
          "context (unless set): the agent's context of earlier turns of the same context is used again; none: not.",
      },
      prompt: PROMPT,
      data: DATA,
    },
    ['endpoint_url'],
  );

  constructor(
    private readonly agents: AgentDirectory,
    private readonly chains: CallChains,
    private readonly contexts?: RemoteContexts,
  ) {}

  findProblems(node: NodeSpec): NodeProblem[] {
    const { endpoint_url: endpoint } = node.config;
    if (endpoint === undefined || endpoint === null || endpoint === '')
      return [{ path: 'config.endpoint_url', detail: missingEndpoint(node) }];
    const isShort = typeof endpoint !== 'string' || endpoint.length <= LONGEST_URL;
    const isUrl = typeof endpoint === 'string' && /^https?:/i.test(endpoint) && URL.canParse(endpoint);
    return new ConfigProblems(node)
      .addUnless(isUrl, 'endpoint_url must be an http or https URL', 'endpoint_url')
      .addUnless(isShort, `endpoint_url ${TOO_LONG_URL}`, 'endpoint_url')
      .addUnless(
        !isUrl || !isShort || !hasUserinfo(endpoint),
        `endpoint_url ${NO_USERINFO}; name a credential in auth`,
        'endpoint_url',
      )
      .checkMember('timeout', `must be a number of seconds, from 1 to ${LONGEST_TIMEOUT_SECONDS}`, isTimeout)
      .checkMember('protocol', 'must be "founding", or absent', (it) => it === 'founding')
      .checkMember('history', 'must be context or none', (it) => it === 'context' || it === 'none')
      .checkMember(
        'auth',
        'must be the name of a credential',
        (it) => typeof it === 'string' && CREDENTIAL_NAME.test(it),
      )
      .checkStrings('prompt').found;
  }

  createExecutor(node: NodeSpec): AgentExecutor {
    return new ExternalExecutor(node, this.agents, this.chains, this.contexts);
  }
}

function isTimeout(value: JsonValue): boolean {
  return typeof value === 'number' && value >= 1 && value <= LONGEST_TIMEOUT_SECONDS;
}
