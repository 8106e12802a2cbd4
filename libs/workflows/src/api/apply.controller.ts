import { Body, Controller, HttpCode, Injectable, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Caller } from '#libs/access';
import { ConfigurationKinds, type ConfigurationSession, type ObjectOutcome, ObjectPlan } from '#libs/configuration';
import { ApiProblem, malformedRequest, type ProblemEntry, ProblemError } from '#libs/http-server';
import { Database } from '#libs/postgres';
import type { WorkflowProblem } from '#libs/workflow-definition';
import { noteOf, type SaveNote, WorkflowStore } from '../storage/workflow-store.js';
import { canBeKept, type ToolProblems, WorkflowsInApply } from './applied-workflows.js';
import { ApplyBody, type ApplyOutcome, ApplyQuery, appliedView, AppliedView, type SentWorkflow } from './apply-body.js';
import { APPLY_EXAMPLES } from './body-examples.js';
import { definitionOf } from './workflow-body.js';
import { type SavingTenant, WorkflowCheck } from './workflow-check.js';

/** Finds the workflows that refer to an object of another kind, such as a registered agent. */
export abstract class ObjectReferences {
  /** Returns the names of the workflows whose newest revision names the object of this kind and name. */
  abstract findNamingWorkflows(store: WorkflowStore, kind: string, name: string): Promise<string[]>;
}

/**
 * Kinds of objects that `SavingTenant.together` contains, each with the first segment of the objects' paths, such as
 * `agents` in `agents/x`.
 */
const TOGETHER = { agent: 'agents', 'mcp-server': 'mcp-servers', model: 'models' } as const;

/** Outcomes of one apply request, for its workflows and its other objects. */
interface Outcomes {
  workflows: ApplyOutcome[];
  objects?: ObjectOutcome[];
}

/** Error that rolls back the transaction of a dry run, and carries the outcomes out of the transaction. */
class DryRun extends Error {
  constructor(readonly outcomes: Outcomes) {
    super('dry run');
  }
}

/** Applies several workflows and other objects atomically: all of them are saved, or none. */
@Injectable()
export class WorkflowApply {
  constructor(
    private readonly store: WorkflowStore,
    private readonly checks: WorkflowCheck,
    private readonly kinds: ConfigurationKinds,
    private readonly database: Database,
    private readonly references: ObjectReferences,
  ) {}

  /**
   * Applies workflows and objects in one transaction.
   * @param dryRun true to report the changes without saving them
   * @throws ProblemError
   * - 412 if a workflow or object does not have the expected revision
   * - 412 `NOT_ADOPTED` naming everything that `adopt: false` protects
   * - 422 for definitions with errors
   * - 403 if the request has objects and the caller lacks the scope `admin`
   */
  async applyAll(body: ApplyBody, dryRun: boolean, caller: Caller): Promise<AppliedView> {
    const { tenant, owner } = caller;
    const names = body.workflows.map(({ definition }) => definition.name).filter(canBeKept);
    const plan = await this.planObjects(body, caller);
    const paths = Object.entries(TOGETHER).flatMap(([kind, folder]) =>
      [...(plan?.names.get(kind) ?? [])].map((name) => `${folder}/${name}`),
    );
    const tools = await this.toolProblems(body, { tenant, together: new Set([...names, ...paths]) });
    const applyOnce = (isDry: boolean): Promise<Outcomes> =>
      this.runOnce(tenant, names, isDry, (store, session) =>
        this.applyInOrder(body, { dryRun: isDry, store, session, tools, plan, note: noteOf(owner) }),
      );
    if (plan && !dryRun && !plan.isEmpty) {
      // A request that would be refused is refused before other services are called.
      await applyOnce(true);
      await plan.prepareObjects(this.database.pool);
    }
    const { workflows, objects } = await applyOnce(dryRun);
    if (!dryRun) await plan?.finishChanges();
    return appliedView(workflows, objects);
  }

  /**
   * Runs `work` in one transaction, which a dry run rolls back. @param names names of the workflows that `work` may
   * change
   */
  private async runOnce(
    tenant: string,
    names: readonly string[],
    isDry: boolean,
    work: (store: WorkflowStore, session: ConfigurationSession) => Promise<Outcomes>,
  ): Promise<Outcomes> {
    try {
      return await this.store.inTenant(tenant).runAtomically(names, async (store, session) => {
        const found = await work(store, session);
        if (isDry) throw new DryRun(found);
        return found;
      });
    } catch (error) {
      if (error instanceof DryRun) return error.outcomes;
      throw error;
    }
  }

  /** Saves objects before the workflows that may refer to them, and deletes objects after the workflows. */
  private async applyInOrder(body: ApplyBody, applying: Applying): Promise<Outcomes> {
    const { dryRun, store, session, tools, plan, note } = applying;
    const saved = (await plan?.saveObjects(session, dryRun)) ?? [];
    const workflows = await new WorkflowsInApply(store, this.checks, body, tools, note).applyInOrder();
    if (!plan) return { workflows };
    const findWorkflows = (kind: string, name: string): Promise<string[]> =>
      this.references.findNamingWorkflows(store, kind, name);
    const deleted = body.prune ? await plan.pruneObjects(session, dryRun, findWorkflows) : [];
    return { workflows, objects: [...saved, ...deleted].toSorted(byKindAndName) };
  }

  /**
   * Checks the objects of a request, before anything is saved.
   * @returns the plan of their changes; `undefined` if the request has no list of objects
   */
  private async planObjects(body: ApplyBody, caller: Caller): Promise<ObjectPlan | undefined> {
    const { objects, mark, adopt, prune } = body;
    if (!objects) return undefined;
    const plan = ObjectPlan.makePlan(this.kinds, { objects, mark, adopt }, caller);
    if (!caller.permissions.has('admin')) {
      const changes = objects.length > 0 || (prune && (await plan.findPrunable(this.database.pool)).length > 0);
      if (changes) throw new ProblemError(403, 'objects other than workflows need a key with the scope admin');
    }
    return plan;
  }

  /**
   * Finds problems with the tools that `agent` nodes name. Call it before the transaction begins, because the lookup
   * needs a second database connection.
   */
  private async toolProblems({ workflows }: ApplyBody, saving: SavingTenant): Promise<ToolProblems> {
    const found = new Map<SentWorkflow['definition'], readonly WorkflowProblem[]>();
    for (const { definition } of workflows)
      found.set(definition, await this.checks.toolProblems(definitionOf(definition), saving));
    return found;
  }
}

/** State of one apply request within its transaction. */
interface Applying {
  dryRun: boolean;
  store: WorkflowStore;
  session: ConfigurationSession;
  tools: ToolProblems;
  plan: ObjectPlan | undefined;
  note: SaveNote;
}

function byKindAndName(one: ObjectOutcome, other: ObjectOutcome): number {
  return `${one.kind}/${one.name}` < `${other.kind}/${other.name}` ? -1 : 1;
}

/** Applies workflows and other objects that the caller keeps in files. */
@ApiTags('workflows')
@Controller('api/apply')
export class ApplyController {
  constructor(private readonly workflows: WorkflowApply) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Saves several workflows and other objects atomically.',
    description: 'Objects are saved before workflows, and deleted after them. What is unchanged gets no new revision.',
  })
  @ApiBody({ type: ApplyBody, examples: APPLY_EXAMPLES })
  @ApiOkResponse({ type: AppliedView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(403, 'The request has objects, and the caller lacks the scope `admin`.')
  @ApiProblem(409, 'A workflow or object is being changed by others.')
  @ApiProblem(412, 'Something does not have the expected revision, or `adopt` is false and it has another mark.')
  @ApiProblem(422, 'A graph is invalid, or an object cannot be saved: one entry per problem.')
  applyWorkflows(
    @Body() body: ApplyBody,
    @Query() { dryRun }: ApplyQuery,
    @Caller() caller: Caller,
  ): Promise<AppliedView> {
    const wrong = [...repeatedNames(body), ...missingMark(body)];
    if (wrong.length > 0) throw malformedRequest(...wrong);
    return this.workflows.applyAll(body, dryRun, caller);
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

/**
 * Returns a problem if the request has `prune: true` but no mark (label of the origin of workflows). The mark
 * determines which workflows may be deleted.
 */
function missingMark({ mark, prune }: ApplyBody): ProblemEntry[] {
  return prune === true && mark === undefined ? [{ path: 'mark', detail: 'is needed where prune is true' }] : [];
}
