import { isDeepStrictEqual } from 'node:util';
import { type Artifact, type JsonValue, type Part, textStart } from '#libs/protocol';
import { ChangeCollector } from '#libs/workflow-definition';
import type { NodeStatus, NodeView, RunStatus, RunView } from '#libs/workflow-engine';

/** Maximum number of characters of one value in a comparison; the rest is cut. */
const LONGEST_VALUE = 2_000;
/** Maximum number of characters of all values in a comparison. Values beyond that are replaced by empty texts. */
const MOST_CHARACTERS = 256 * 1024;

/** Parts of a run that a comparison with another run checks for differences. */
export const RUN_PARTS = ['workflow', 'revision', 'status', 'error', 'inputs', 'nodes', 'result'] as const;
type RunPart = (typeof RUN_PARTS)[number];

/** Parts of a node that a comparison of two runs checks for differences. */
export const NODE_PARTS = ['presence', 'status', 'attempts', 'error', 'output'] as const;
type NodePart = (typeof NODE_PARTS)[number];

/** Run in a comparison of two runs. */
export interface ComparedRunSummary {
  runId: string;
  workflow: string;
  revision?: string;
  status: RunStatus;
  /** Id of the run whose results this run reuses; absent if this run is not a rerun. */
  origin?: string;
  error?: string;
  createdAt: string;
  /** Time from the start to the end; absent while the run has not ended. */
  durationMs?: number;
}

/** Value of one input in two runs, as text. It is absent for a run without that input. */
export interface ComparedInput {
  path: string;
  before?: string;
  after?: string;
}

/** Node of one of the two compared runs. */
export interface ComparedNode {
  status: NodeStatus;
  attempts: number;
  durationMs?: number;
  error?: string;
  /** Text of the node's Artifacts; present only if the output differs between the runs. */
  output?: string;
}

/** Comparison of one node in two runs. */
export interface NodeComparison {
  id: string;
  differs: NodePart[];
  /** Node in the earlier of the two runs; absent if that run has no such node. */
  before?: ComparedNode;
  after?: ComparedNode;
}

/** Differences of two runs. */
export interface RunComparison {
  before: ComparedRunSummary;
  after: ComparedRunSummary;
  differs: RunPart[];
  inputs: ComparedInput[];
  /**
   * All nodes of both runs: first the nodes of the later run in their order, then those that only the earlier run has.
   */
  nodes: NodeComparison[];
  /** True if values are cut, or inputs are left out. */
  truncated: boolean;
}

/** Compares two runs. Times never count as a difference. */
export function compareRuns(before: RunView, after: RunView): RunComparison {
  return new RunComparer(before, after).compareAll();
}

class RunComparer {
  private room = MOST_CHARACTERS;
  private truncated = false;

  constructor(
    private readonly before: RunView,
    private readonly after: RunView,
  ) {}

  compareAll(): RunComparison {
    const { before, after } = this;
    const inputs = this.compareInputs();
    const ids = new Set([...Object.keys(after.nodes), ...Object.keys(before.nodes)]);
    const nodes = [...ids].map((id) => this.compareNodes(id));
    const unequal: Record<RunPart, boolean> = {
      workflow: before.workflow !== after.workflow,
      revision: before.revision !== after.revision,
      status: before.status !== after.status,
      error: before.error?.message !== after.error?.message,
      inputs: inputs.length > 0,
      nodes: nodes.some(({ differs }) => differs.length > 0),
      result: !haveSameContent(before.result, after.result),
    };
    const shown = { before: this.summarizeRun(before), after: this.summarizeRun(after) };
    return { ...shown, differs: RUN_PARTS.filter((it) => unequal[it]), inputs, nodes, truncated: this.truncated };
  }

  private summarizeRun({ runId, workflow, revision, status, origin, error, ...times }: RunView): ComparedRunSummary {
    const hasEnded = status === 'completed' || status === 'failed' || status === 'canceled';
    return {
      runId,
      workflow,
      ...(revision !== undefined && { revision }),
      status,
      ...(origin !== undefined && { origin }),
      ...(error && { error: this.cutText(error.message) }),
      createdAt: times.createdAt,
      ...(hasEnded && { durationMs: millisecondsBetween(times.createdAt, times.updatedAt) }),
    };
  }

  private compareInputs(): ComparedInput[] {
    const changes = new ChangeCollector();
    const found = changes.listChanges(this.before.inputs, this.after.inputs);
    if (changes.truncated) this.truncated = true;
    return found.map(({ path, before, after }) => ({
      path: textStart(path, LONGEST_VALUE),
      ...(before !== undefined && { before: this.cutText(valueText(before)) }),
      ...(after !== undefined && { after: this.cutText(valueText(after)) }),
    }));
  }

  private compareNodes(id: string): NodeComparison {
    const before = Object.hasOwn(this.before.nodes, id) ? this.before.nodes[id] : undefined;
    const after = Object.hasOwn(this.after.nodes, id) ? this.after.nodes[id] : undefined;
    const unequal: Record<NodePart, boolean> = {
      presence: !before || !after,
      status: before?.status !== after?.status,
      attempts: before?.attempts !== after?.attempts,
      error: before?.error !== after?.error,
      output: !haveSameContent(before?.artifacts, after?.artifacts),
    };
    const differs = before && after ? NODE_PARTS.filter((it) => unequal[it]) : (['presence'] as const);
    const withOutput = unequal.output;
    return {
      id,
      differs: [...differs],
      ...(before && { before: this.summarizeNode(before, withOutput) }),
      ...(after && { after: this.summarizeNode(after, withOutput) }),
    };
  }

  private summarizeNode(
    { status, attempts, startedAt, finishedAt, error, artifacts }: NodeView,
    withOutput: boolean,
  ): ComparedNode {
    const isTimed = startedAt !== undefined && finishedAt !== undefined;
    return {
      status,
      attempts,
      ...(isTimed && { durationMs: millisecondsBetween(startedAt, finishedAt) }),
      ...(error !== undefined && { error: this.cutText(error) }),
      ...(withOutput && artifacts.length > 0 && { output: this.outputText(artifacts) }),
    };
  }

  private outputText(artifacts: readonly Artifact[]): string {
    let text = '';
    for (const part of artifacts.flatMap(({ parts }) => parts)) {
      if (text.length > LONGEST_VALUE) break;
      text += `${text === '' ? '' : '\n'}${partText(part)}`;
    }
    return this.cutText(text);
  }

  private cutText(text: string): string {
    const most = Math.min(LONGEST_VALUE, this.room);
    const cut = text.length > most ? textStart(text, most) : text;
    if (text.length > most) this.truncated = true;
    this.room = Math.max(0, this.room - cut.length);
    return cut;
  }
}

function valueText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function partText(part: Part): string {
  if (part.text !== undefined) return part.text;
  if (part.data !== undefined) return JSON.stringify(part.data);
  return part.filename ?? part.url ?? part.mediaType ?? 'file';
}

/** True if two lists of Artifacts have the same Parts. The ids of the Artifacts may differ. */
function haveSameContent(before: readonly Artifact[] = [], after: readonly Artifact[] = []): boolean {
  return isDeepStrictEqual(before.map(contentOf), after.map(contentOf));
}

function contentOf({ name, parts }: Artifact): unknown {
  return { name, parts };
}

function millisecondsBetween(begin: string, end: string): number {
  return Math.max(0, Date.parse(end) - Date.parse(begin));
}
