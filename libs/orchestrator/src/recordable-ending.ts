import { Logger } from '@nestjs/common';
import type { PartRestorer, RequestContext } from '#libs/executor';
import { type Artifact, isFilePart, type Part } from '#libs/protocol';
import type { ChildEnding } from './child-ending.js';
import { mayReadBytes } from './plain-definition.js';
import type { WorkflowGraph } from './workflow-graph.js';

const logger = new Logger('RunFiles');

/** The run whose log receives the ending. */
interface RecordingRun {
  context: RequestContext;
  graph: WorkflowGraph;
}

/**
 * Reports an ending as the log will store it: with large Parts as files, or as bytes if expressions may read them. So a
 * run continues with the same content that it would read from its log after a crash. Restored bytes count against the
 * limits until the run has applied the ending.
 */
export async function reportRecordable(
  ending: ChildEnding,
  run: RecordingRun,
  report: (ending: ChildEnding) => Promise<void>,
): Promise<void> {
  using restorer = mayReadBytes(run.graph.definition) ? run.context.partRestorer?.() : undefined;
  await report(await recordableEnding(ending, run, restorer));
}

async function recordableEnding(
  ending: ChildEnding,
  { context, graph }: RecordingRun,
  restorer: PartRestorer | undefined,
): Promise<ChildEnding> {
  if (ending.kind !== 'completed') return ending;
  const { status } = ending;
  const restoreOrKeep = async (parts: readonly Part[]): Promise<Part[] | undefined> =>
    mayReadBytes(graph.definition) ? restorer?.restoreParts(parts) : context.keepParts?.(parts);
  const artifacts: Artifact[] = [];
  try {
    for (const artifact of ending.artifacts) {
      const parts = artifact.parts.some(isFilePart) ? await restoreOrKeep(artifact.parts) : undefined;
      artifacts.push(parts ? { ...artifact, parts } : artifact);
    }
  } catch (error) {
    context.signal.throwIfAborted();
    logger.error({ err: error, runId: context.taskId }, 'A file that a node has answered cannot be read');
    return { kind: 'failed', status, error: 'a file of the answer cannot be read', failure: 'failed' };
  }
  return { ...ending, artifacts };
}
