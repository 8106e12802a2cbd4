import { isDeepStrictEqual } from 'node:util';
import { type ProblemEntry, ProblemError } from '#libs/http-server';
import {
  isError,
  namingNodes,
  WORKFLOW_NAME,
  type WorkflowProblem,
  type WorkflowRevision,
} from '#libs/workflow-definition';
import type { SaveNote, WorkflowStore } from '../storage/workflow-store.js';
import type { ApplyBody, ApplyOutcome, SentWorkflow } from './apply-body.js';
import { definitionOf } from './workflow-body.js';
import { type CheckedWorkflow, invalidDefinition, type WorkflowCheck } from './workflow-check.js';

/** Problems of the tools that `agent` nodes name, by the definition in the request. */
export type ToolProblems = ReadonlyMap<SentWorkflow['definition'], readonly WorkflowProblem[]>;

/** Saves the workflows of one `POST /api/apply` request, within its transaction. */
export class WorkflowsInApply {
  private readonly errors: WorkflowProblem[] = [];
  private readonly refused = new Set<string>();
  private readonly foreign: ProblemEntry[] = [];
  /**
   * Names of the workflows that a request with `adopt: false` may replace: workflows that were last applied with the
   * same mark. (A mark is a label of the origin of workflows, such as a folder.) Absent with `adopt: true`: all may be
   * replaced.
   */
  private own?: ReadonlySet<string>;

  constructor(
    private readonly store: WorkflowStore,
    private readonly checks: WorkflowCheck,
    private readonly body: ApplyBody,
    private readonly tools: ToolProblems,
    private readonly note: SaveNote,
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

  /**
   * Saves one workflow. Returns `undefined` if the workflow has errors, or a workflow that its nodes run has errors.
   */
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
      ? await this.store.replaceWorkflow(definition, [found.revision], this.note)
      : await this.store.createWorkflow(definition, this.note);
    if (!saved) throw new ProblemError(409, `the workflow "${name}" is being changed by others; try again`);
    if (this.body.mark !== undefined && !found) await this.store.markWorkflow(name, this.body.mark);
    return { name, action: found ? 'updated' : 'created', revision: saved.revision, problems };
  }

  /**
   * Records the problem `NOT_ADOPTED` for a workflow that the request must not replace: the workflow was last applied
   * with another mark, or without one. The other workflows are still checked; then the transaction is rolled back.
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

  /**
   * Deletes the workflows that were last applied with the request's mark (label of their origin) and are not in this
   * request.
   */
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
 * Sorts workflows so that child workflows come before the workflows whose nodes run them: a parent stores the new
 * revisions of its children.
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
export function canBeKept(name: string): boolean {
  return WORKFLOW_NAME.test(name);
}

/** Returns a definition as JSON has it: members whose value is `undefined` are omitted. */
function asPlainJson(definition: WorkflowRevision['definition']): unknown {
  return JSON.parse(JSON.stringify(definition));
}
