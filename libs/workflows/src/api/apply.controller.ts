import { Body, Controller, HttpCode, Injectable, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiProperty, ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsDefined,
  IsOptional,
  Matches,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { isDeepStrictEqual } from 'node:util';
import { Scope } from '#libs/access';
import {
  ApiProblem,
  malformedRequest,
  type ProblemEntry,
  ProblemError,
  QueryFlag,
  withMembers,
} from '#libs/http-server';
import { isJsonObject, type JsonObject } from '#libs/protocol';
import type { TaskScope } from '#libs/tasks';
import {
  isError,
  namingNodes,
  WORKFLOW_NAME,
  type WorkflowProblem,
  type WorkflowRevision,
} from '#libs/workflow-definition';
import { WorkflowStore } from '../storage/workflow-store.js';
import { APPLY_EXAMPLES } from './body-examples.js';
import { definitionOf, WorkflowBody, WorkflowProblemView } from './workflow-body.js';
import { type CheckedWorkflow, invalidDefinition, type SavingTenant, WorkflowCheck } from './workflow-check.js';

const MOST_WORKFLOWS = 500;
const MARK = /^[\w.:/-]{1,200}$/;
const REVISION = /^[1-9]\d{0,17}$/;

/** Workflow to apply, with the revision that the caller expects to replace. */
class SentWorkflow {
  @ApiProperty({ type: WorkflowBody })
  @IsDefined({ message: 'must be a definition' })
  @ValidateNested()
  definition!: WorkflowBody;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    pattern: REVISION.source,
    description: 'Expected current revision; null: the workflow must not exist; absent: any revision.',
    example: '7',
  })
  @ValidateIf((_, value) => value !== undefined && value !== null)
  @Matches(REVISION, { message: 'must be a revision, or null' })
  revision?: string | null;

  static from(sent: JsonObject): SentWorkflow {
    const definition = WorkflowBody.from(isJsonObject(sent['definition']) ? sent['definition'] : {});
    const revision = sent['revision'];
    return Object.assign(new SentWorkflow(), { definition, ...(revision !== undefined && { revision }) });
  }
}

/** Body of `POST /api/apply`: workflows that are saved together. */
class ApplyBody {
  @ApiProperty({ type: [SentWorkflow], maxItems: MOST_WORKFLOWS })
  @IsArray({ message: 'must be an array' })
  @ArrayMaxSize(MOST_WORKFLOWS, { message: `must not have more than ${MOST_WORKFLOWS} entries` })
  @ValidateNested({ each: true })
  workflows!: SentWorkflow[];

  @ApiPropertyOptional({
    pattern: MARK.source,
    description: 'Mark of the origin of the workflows, such as a folder.',
    example: 'team-a/workflows',
  })
  @IsOptional()
  @Matches(MARK, { message: 'must have 1 to 200 letters, digits and .:/_-' })
  mark?: string;

  @ApiPropertyOptional({
    description: 'True to delete workflows that have the same mark and are not in the request.',
    default: false,
  })
  @IsOptional()
  @IsBoolean({ message: 'must be true or false' })
  prune?: boolean;

  @ApiPropertyOptional({
    description:
      'False: nothing is saved if a workflow in the request would replace a different workflow without this mark, ' +
      'unless its expected revision is sent.',
    default: true,
  })
  @IsOptional()
  @IsBoolean({ message: 'must be true or false' })
  adopt?: boolean;

  /** Reads the request body. A member that is null counts as absent. */
  static from(sent: JsonObject): ApplyBody {
    const { workflows } = sent;
    const given = Object.entries(sent).filter(([, value]) => value !== null);
    const read = Array.isArray(workflows)
      ? workflows.slice(0, MOST_WORKFLOWS + 1).map((it) => SentWorkflow.from(isJsonObject(it) ? it : {}))
      : workflows;
    return Object.assign(withMembers(ApplyBody, Object.fromEntries(given)), { workflows: read });
  }
}

const ACTIONS = ['created', 'updated', 'unchanged', 'deleted'] as const;

type ApplyAction = (typeof ACTIONS)[number];

class AppliedWorkflow {
  @ApiProperty({ example: 'greeting' }) name!: string;
  @ApiProperty({ enum: ACTIONS }) action!: ApplyAction;
  @ApiPropertyOptional({ description: 'Revision of the workflow now; absent if it was deleted.', example: '8' })
  revision?: string;
  @ApiPropertyOptional({
    type: [WorkflowProblemView],
    description: 'Warnings for the author; absent if there are none.',
  })
  problems?: WorkflowProblem[];
}

/** Response of `POST /api/apply`: the outcome for each workflow, sorted by name. */
class AppliedView {
  @ApiProperty({ type: [AppliedWorkflow] }) workflows!: AppliedWorkflow[];
}

/** Outcome for one workflow, with its warnings. */
interface ApplyOutcome {
  name: string;
  action: ApplyAction;
  revision?: string;
  problems: WorkflowProblem[];
}

/** Error that rolls back the transaction of a dry run, and carries the outcomes out of the transaction. */
class DryRun extends Error {
  constructor(readonly outcomes: ApplyOutcome[]) {
    super('dry run');
  }
}

/** Applies several workflows atomically: all of them are saved, or none. */
@Injectable()
export class WorkflowApply {
  constructor(
    private readonly store: WorkflowStore,
    private readonly checks: WorkflowCheck,
  ) {}

  /**
   * Applies workflows in one transaction.
   * @param dryRun true to report the changes without saving them
   * @throws ProblemError 412 if a workflow does not have the expected revision; 412 `NOT_ADOPTED` naming every workflow
   * that `adopt: false` protects; 422 for definitions with errors
   */
  async applyWorkflows(body: ApplyBody, dryRun: boolean, tenant: string): Promise<AppliedView> {
    const names = body.workflows.map(({ definition }) => definition.name).filter(canBeKept);
    try {
      const tools = await this.toolProblems(body, { tenant, together: new Set(names) });
      const outcomes = await this.store.inTenant(tenant).runAtomically(names, async (store) => {
        const found = await new OneApply(store, this.checks, body, tools).applyInOrder();
        if (dryRun) throw new DryRun(found);
        return found;
      });
      return viewOf(outcomes);
    } catch (error) {
      if (error instanceof DryRun) return viewOf(error.outcomes);
      throw error;
    }
  }

  /**
   * Finds the problems of the tools that `agent` nodes name. It runs before the transaction, which would otherwise hold
   * one database connection while it waits for another connection.
   */
  private async toolProblems({ workflows }: ApplyBody, saving: SavingTenant): Promise<ToolProblems> {
    const found = new Map<SentWorkflow['definition'], readonly WorkflowProblem[]>();
    for (const { definition } of workflows)
      found.set(definition, await this.checks.toolProblems(definitionOf(definition), saving));
    return found;
  }
}

/** Problems of the tools that `agent` nodes name, by the definition that was sent. */
type ToolProblems = ReadonlyMap<SentWorkflow['definition'], readonly WorkflowProblem[]>;

/** Applies the workflows of one request, within its transaction. */
class OneApply {
  private readonly errors: WorkflowProblem[] = [];
  private readonly refused = new Set<string>();
  private readonly foreign: ProblemEntry[] = [];
  /**
   * Names of the workflows last applied under the request's mark, the only replaceable ones; absent: all are (`adopt`).
   */
  private own?: ReadonlySet<string>;

  constructor(
    private readonly store: WorkflowStore,
    private readonly checks: WorkflowCheck,
    private readonly body: ApplyBody,
    private readonly tools: ToolProblems,
  ) {}

  async applyInOrder(): Promise<ApplyOutcome[]> {
    const { adopt = true, mark } = this.body;
    if (!adopt) this.own = new Set(mark === undefined ? [] : await this.store.listMarked(mark));
    const outcomes: ApplyOutcome[] = [];
    for (const sent of childrenFirst(this.body.workflows)) {
      const outcome = await this.applyWorkflow(sent);
      if (outcome) outcomes.push(outcome);
    }
    if (this.errors.length > 0) {
      throw new ProblemError(422, this.errors.map(({ detail }) => detail).join('; '), this.errors, 'INVALID_WORKFLOW');
    }
    if (this.foreign.length > 0) {
      throw new ProblemError(412, this.foreign.map(({ detail }) => detail).join('; '), this.foreign, 'NOT_ADOPTED');
    }
    if (this.body.prune) outcomes.push(...(await this.pruneWorkflows()));
    return outcomes.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** Applies one workflow. Returns `undefined` if the workflow, or a workflow that it runs, has errors. */
  private async applyWorkflow({
    definition: body,
    revision: expected,
  }: SentWorkflow): Promise<ApplyOutcome | undefined> {
    const { name } = body;
    const found = canBeKept(name) ? await this.store.get(name) : undefined;
    requireRevision(name, expected, found?.revision);
    const checked = await this.checkBody(body);
    if (!checked) return undefined;
    const { definition, warnings: problems } = checked;
    if (this.body.mark !== undefined && found) await this.store.markWorkflow(name, this.body.mark);
    if (found && isDeepStrictEqual(asPlainJson(found.definition), asPlainJson(definition))) {
      return { name, action: 'unchanged', revision: found.revision, problems };
    }
    if (found && expected === undefined && this.own?.has(name) === false) this.reportForeign(body, found.revision);
    const saved = found
      ? await this.store.replaceWorkflow(definition, [found.revision])
      : await this.store.createWorkflow(definition);
    if (!saved) throw new ProblemError(409, `the workflow "${name}" is being changed by others; try again`);
    if (this.body.mark !== undefined && !found) await this.store.markWorkflow(name, this.body.mark);
    return { name, action: found ? 'updated' : 'created', revision: saved.revision, problems };
  }

  /**
   * Records a workflow that must not be replaced, since it was not applied under the mark of the request
   * (`NOT_ADOPTED`). The other workflows are still checked; then the transaction is rolled back.
   */
  private reportForeign(body: SentWorkflow['definition'], revision: string): void {
    const index = this.body.workflows.findIndex(({ definition }) => definition === body);
    const detail = `the workflow "${body.name}" is there with the revision ${revision}, and was not applied from here before`;
    this.foreign.push({ path: `workflows[${index}].definition.name`, detail });
  }

  private async checkBody(body: SentWorkflow['definition']): Promise<CheckedWorkflow | undefined> {
    const { name } = body;
    if (namingNodes(definitionOf(body)).some(({ workflow }) => this.refused.has(workflow))) {
      this.refused.add(name);
      return undefined;
    }
    try {
      const checked = await this.checks.checkSavable(body, false, this.store);
      const tools = this.tools.get(body) ?? [];
      const errors = tools.filter(isError);
      if (errors.length > 0) throw invalidDefinition(errors);
      return { ...checked, warnings: [...checked.warnings, ...tools] };
    } catch (error) {
      if (!(error instanceof ProblemError) || error.status !== 422) throw error;
      const index = this.body.workflows.findIndex(({ definition }) => definition === body);
      const place = `workflows[${index}].definition`;
      for (const entry of error.errors as readonly WorkflowProblem[]) {
        const path = entry.path === '' ? place : `${place}.${entry.path}`;
        this.errors.push({ ...entry, path, detail: `workflow "${name}": ${entry.detail}` });
      }
      this.refused.add(name);
      return undefined;
    }
  }

  /** Deletes the workflows that were applied under the mark before, but are not in this request. */
  private async pruneWorkflows(): Promise<ApplyOutcome[]> {
    const sent = new Set(this.body.workflows.map(({ definition }) => definition.name));
    const gone = (await this.store.listMarked(this.body.mark ?? '')).filter((name) => !sent.has(name));
    const outcomes: ApplyOutcome[] = [];
    for (const name of gone) {
      if (await this.store.delete(name)) outcomes.push({ name, action: 'deleted', problems: [] });
    }
    return outcomes;
  }
}

/**
 * Orders workflows so that each comes after the workflows that its nodes run, because it stores their new revisions.
 */
function childrenFirst(workflows: readonly SentWorkflow[]): SentWorkflow[] {
  const byName = new Map(workflows.map((sent) => [sent.definition.name, sent]));
  const ordered = new Set<SentWorkflow>();
  const seen = new Set<SentWorkflow>();
  const visitWorkflow = (sent: SentWorkflow): void => {
    if (seen.has(sent)) return;
    seen.add(sent);
    for (const { workflow } of namingNodes(definitionOf(sent.definition))) {
      const child = byName.get(workflow);
      if (child) visitWorkflow(child);
    }
    ordered.add(sent);
  };
  workflows.forEach(visitWorkflow);
  return [...ordered];
}

function requireRevision(name: string, expected: string | null | undefined, current: string | undefined): void {
  if (expected === undefined || expected === (current ?? null)) return;
  const is = current === undefined ? 'is not there' : `has the revision ${current}`;
  const was = expected === null ? 'none of this name' : `the revision ${expected}`;
  throw new ProblemError(412, `the workflow "${name}" ${is}, and ${was} was expected: others have changed it`);
}

/**
 * True if the text is a valid workflow name, so that the database can be asked for it: PostgreSQL rejects some other
 * texts, for example with NUL.
 */
function canBeKept(name: string): boolean {
  return WORKFLOW_NAME.test(name);
}

/** Returns a definition as it is after JSON serialization: without members that are undefined. */
function asPlainJson(definition: WorkflowRevision['definition']): unknown {
  return JSON.parse(JSON.stringify(definition));
}

function viewOf(outcomes: readonly ApplyOutcome[]): AppliedView {
  return {
    workflows: outcomes.map(({ name, action, revision, problems }) => ({
      name,
      action,
      ...(revision !== undefined && { revision }),
      ...(problems.length > 0 && { problems }),
    })),
  };
}

/** Query parameters of `POST /api/apply`. */
class ApplyQuery {
  @QueryFlag({ description: 'Dry run: reports the changes without applying them.' })
  dryRun = false;
}

/** Applies workflows whose definitions the caller keeps in files. */
@ApiTags('workflows')
@Controller('api/apply')
export class ApplyController {
  constructor(private readonly workflows: WorkflowApply) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Saves several workflows atomically.',
    description: 'Unchanged workflows get no new revision.',
  })
  @ApiBody({ type: ApplyBody, examples: APPLY_EXAMPLES })
  @ApiOkResponse({ type: AppliedView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(
    412,
    'A workflow does not have the expected revision, or `adopt` is false and the workflow has another mark.',
  )
  @ApiProblem(422, 'A graph is invalid: one entry per problem.')
  applyWorkflows(
    @Body() body: ApplyBody,
    @Query() { dryRun }: ApplyQuery,
    @Scope() { tenant }: TaskScope,
  ): Promise<AppliedView> {
    const wrong = [...repeatedNames(body), ...missingMark(body)];
    if (wrong.length > 0) throw malformedRequest(...wrong);
    return this.workflows.applyWorkflows(body, dryRun, tenant);
  }
}

function repeatedNames({ workflows }: ApplyBody): ProblemEntry[] {
  const first = new Map<string, number>();
  return workflows.flatMap(({ definition: { name } }, index) => {
    const before = first.get(name);
    if (before === undefined) first.set(name, index);
    const path = `workflows[${index}].definition.name`;
    return before === undefined ? [] : [{ path, detail: `is that of workflows[${before}] as well` }];
  });
}

/** Returns the problem of `prune` without a mark. The mark says which workflows may be deleted. */
function missingMark({ mark, prune }: ApplyBody): ProblemEntry[] {
  return prune === true && mark === undefined ? [{ path: 'mark', detail: 'is needed where prune is true' }] : [];
}
