/** Shapes of `/api/brainstorms`, and their meaning for the person. */

export type BrainstormStatusName = 'active' | 'converged' | 'approved' | 'failed' | 'canceled';

export const STATUSES: readonly BrainstormStatusName[] = ['active', 'converged', 'approved', 'failed', 'canceled'];

export const ROLES = ['build', 'review', 'refine', 'devils_advocate'] as const;

export interface BrainstormSummary {
  brainstormId: string;
  status: BrainstormStatusName;
  iteration: number;
  idea: string;
  createdAt: string;
  updatedAt: string;
}

/** The agent that last set a part of the state. */
export interface StateSource {
  agent: string;
  role: string;
  iteration: number;
}

export interface BrainstormRisk {
  text: string;
  severity: 'low' | 'medium' | 'high' | 'critical';
  resolved: boolean;
}

export interface MergedState {
  idea: string;
  architecture: string;
  execution_plan: { title: string; description: string }[];
  risks: BrainstormRisk[];
  assumptions: string[];
  open_questions: string[];
  metrics: { confidence: number };
}

export interface PassAgent {
  agent: string;
  role: string;
  status: string;
  error?: string;
}

export interface BrainstormPass {
  iteration: number;
  agents: PassAgent[];
  /** Confidence of the pass, 0 to 1; missing until the pass is complete. */
  confidence?: number;
}

export interface Brainstorm {
  brainstormId: string;
  status: BrainstormStatusName;
  iteration: number;
  maxIterations: number;
  agents: { agent: string; name: string; role: string; provider: string; model: string; skills: string[] }[];
  state: MergedState;
  /** Source of each part of the state by its path, such as `risks[0]`. */
  provenance: Record<string, StateSource>;
  passes: BrainstormPass[];
  convergence?: string;
  error?: { agent?: string; message: string };
  createdAt: string;
  updatedAt: string;
}

/** Returns the actions that a person may take now. */
export function actionsOf({ status, iteration }: Brainstorm): { iterate: boolean; approve: boolean; cancel: boolean } {
  const ended = status === 'approved' || status === 'canceled';
  return { iterate: status === 'converged' || status === 'failed', approve: !ended && iteration > 0, cancel: !ended };
}

export function roleLabel(role: string): string {
  return role === 'devils_advocate' ? "devil's advocate" : role.replaceAll('_', ' ');
}

/** Returns the standing of a brainstorm in a sentence. */
export function describeStanding({ status, iteration, maxIterations, passes, convergence, error }: Brainstorm): string {
  if (error) return error.agent === undefined ? error.message : `${error.agent}: ${error.message}`;
  if (convergence !== undefined) return convergence;
  if (status === 'approved') return `Approved after iteration ${iteration}.`;
  if (status === 'canceled') return `Canceled after ${iteration} complete iterations.`;
  const pass = passes.at(-1);
  const busy = pass?.agents.find((agent) => agent.status === 'running');
  if (busy && pass) return `Iteration ${pass.iteration} of at most ${maxIterations}: ${busy.agent} is at work.`;
  return `${iteration} of at most ${maxIterations} iterations are complete.`;
}
