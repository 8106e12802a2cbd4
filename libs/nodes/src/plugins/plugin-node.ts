import { Ajv, type ValidateFunction } from 'ajv';
import type { DefinedNode } from '#libs/authoring';
import type { AgentExecutor, ConfigSchema, NodeProblem, NodeSpec, NodeType } from '#libs/executor';
import { withDecimalMultiples } from '#libs/expressions';
import { briefText, type JsonObject } from '#libs/protocol';
import { DATA, PROMPT } from '../config-schema.js';
import { DefinedExecutor } from '../defined/defined-executor.js';
import type { Sealer } from '../defined/work-event.js';
import type { DefinedWork } from '../defined/work-execution.js';

/** Maximum characters of a member's name in a problem. */
const LONGEST_NAME = 200;

/** Members that all types of nodes have. */
const GENERAL: Record<string, JsonObject> = { description: { type: 'string' } };

/** Node type defined by a plugin. Its nodes are as durable as built-in ones; they report and ask as agents do. */
export class PluginNode implements NodeType {
  readonly name: string;
  readonly configSchema: ConfigSchema;
  private readonly validate: ValidateFunction;

  constructor(
    private readonly defined: DefinedNode,
    private readonly sealer: Sealer,
  ) {
    this.name = defined.type;
    const { configSchema, description } = defined;
    const own = configSchema as JsonObject;
    const properties = { prompt: PROMPT, data: DATA, ...configSchema.properties };
    this.configSchema = { ...(description !== undefined && { description }), ...own, type: 'object', properties };
    const schema = { ...own, type: 'object', properties: { ...GENERAL, ...properties } };
    this.validate = withDecimalMultiples(new Ajv({ allErrors: true, strict: false })).compile(schema);
  }

  findProblems({ config }: NodeSpec): NodeProblem[] {
    if (this.validate(config)) return [];
    return (this.validate.errors ?? []).map(({ instancePath, message = 'is wrong', params }) => {
      const { additionalProperty: member } = params as { additionalProperty?: string };
      const named = member === undefined ? message : `${message}: ${JSON.stringify(briefText(member, LONGEST_NAME))}`;
      return { path: `config${instancePath.replaceAll('/', '.')}`, detail: `${this.name}: ${named}` };
    });
  }

  createExecutor({ id, config }: NodeSpec): AgentExecutor {
    const { description, recovery } = this.defined;
    const work: DefinedWork = {
      name: id,
      run: (context) => this.defined.run({ ...context, node: id, config: structuredClone(config) }),
    };
    return new DefinedExecutor(work, this.sealer, recovery, description === undefined ? {} : { does: description });
  }
}
