import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import type { ProblemEntry } from '#libs/http-server';
import type { JsonObject } from '#libs/protocol';
import {
  DEFINITION,
  definitionFaults,
  type ObjectShape,
  storedDefinition,
  type WorkflowDefinition,
  type WorkflowProblem,
  type WorkflowRevision,
} from '#libs/workflow-definition';

type DocumentedClass = new () => object;

/** Class decorator that documents the members of a shape in OpenAPI. */
function DocumentedAs({ members }: ObjectShape): ClassDecorator {
  return ({ prototype }) => {
    for (const [name, { presence, api, shape, entryShape }] of Object.entries(members)) {
      const part = shape ?? entryShape;
      // A member with alternatives (`oneOf`) has no single type.
      const type =
        'oneOf' in api ? { type: Object } : part && { type: documentedClass(part), isArray: part === entryShape };
      const decorate = presence === 'required' ? ApiProperty : ApiPropertyOptional;
      // OpenAPI 3.0 knows one example of a value, JSON Schema a list.
      const { examples, ...documented } = api as { examples?: unknown[] };
      const example = examples && { example: examples[0] };
      decorate({ ...documented, ...example, ...type } as ApiPropertyOptions)(prototype, name);
    }
  };
}

const classes = new Map<ObjectShape, DocumentedClass>();

/**
 * Returns a class for Nest to generate the OpenAPI schema of a shape (a part of a definition). It is created once for
 * each shape.
 */
function documentedClass(shape: ObjectShape): DocumentedClass {
  const known = classes.get(shape);
  if (known) return known;
  const { [shape.apiName]: type = class {} } = { [shape.apiName]: class {} };
  DocumentedAs(shape)(type);
  classes.set(shape, type);
  return type;
}

/** A definition in a request body. Unknown members are not stored; `unknownMembers` reports them. */
@DocumentedAs(DEFINITION)
export class WorkflowBody {
  /** The whole body, including unknown members. */
  readonly sent: JsonObject = {};

  static from(sent: JsonObject): WorkflowBody {
    return Object.assign(new WorkflowBody(), { sent });
  }

  static findFaults({ sent }: WorkflowBody): ProblemEntry[] {
    return definitionFaults(sent);
  }

  /** Name of the workflow, if the body is valid. */
  get name(): string {
    return this.sent['name'] as string;
  }
}

/** Body of a request that replaces a workflow. The name comes from the path; a name in the body is ignored. */
export class ReplacementWorkflowBody extends WorkflowBody {
  static override from(sent: JsonObject): WorkflowBody {
    return WorkflowBody.from({ ...sent, name: 'named-by-its-path' });
  }
}

/** Returns the definition to store from a valid body. */
export function definitionOf({ sent }: WorkflowBody): WorkflowDefinition {
  return storedDefinition(sent);
}

/** A problem of a definition, in a response. */
export class WorkflowProblemView {
  @ApiProperty({ enum: ['error', 'warning'] })
  severity!: 'error' | 'warning';

  @ApiProperty({ example: 'UNKNOWN_REFERENCE' })
  code!: string;

  @ApiProperty({ example: 'node "writer": {{nope}} stands for nothing' })
  detail!: string;

  @ApiProperty({ example: 'nodes[1].config.prompt' })
  path!: string;

  @ApiPropertyOptional({ description: 'Id of the affected node.', example: 'writer' })
  node?: string;

  @ApiPropertyOptional({ type: 'integer', description: 'Index of the affected edge.', example: 0 })
  edge?: number;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'Offset of the problem in the string at the path, in UTF-16 code units.',
    example: 6,
  })
  offset?: number;
}

/** Response of `POST /api/workflows/check`: the problems of a definition, errors first. */
export class WorkflowProblems {
  @ApiProperty({ type: [WorkflowProblemView] })
  problems!: WorkflowProblem[];
}

/** Workflow in a response: its definition, and the members below. */
export class WorkflowView extends WorkflowBody {
  @ApiProperty({ description: 'Revision; it grows with every save.', example: '7' })
  revision!: string;

  @ApiProperty({ format: 'date-time' })
  createdAt!: string;

  @ApiProperty({ format: 'date-time' })
  updatedAt!: string;
}

/** A workflow in the response to a save. */
export class SavedWorkflowView extends WorkflowView {
  @ApiPropertyOptional({
    type: [WorkflowProblemView],
    description: 'Warnings for the author; absent if there are none.',
  })
  problems?: WorkflowProblem[];
}

/** Response body for a saved workflow, as `WorkflowView` and `SavedWorkflowView` document it. */
export type ShownWorkflow = WorkflowDefinition & Omit<SavedWorkflowView, keyof WorkflowBody>;

/** Returns the response body for a saved workflow. */
export function workflowView({ definition, revision, createdAt, updatedAt }: WorkflowRevision): ShownWorkflow {
  return { ...definition, revision, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}

/** Returns the response body for a save, with the warnings for its author. */
export function savedView(saved: WorkflowRevision, problems: WorkflowProblem[]): ShownWorkflow {
  return { ...workflowView(saved), ...(problems.length > 0 && { problems }) };
}
