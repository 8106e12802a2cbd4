const STARTERS = 32;

export interface WorkflowDefinition {
  name: string;
  nodes: { id: string; type: string; config?: object; each?: object }[];
  edges: { from: string; to: string }[];
}

/** Saves a workflow at a running Parley service. */
export async function saveWorkflow(
  url: string,
  definition: WorkflowDefinition,
  credentials: Record<string, string> = {},
): Promise<void> {
  const answer = await fetch(`${url}/api/workflows`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...credentials },
    body: JSON.stringify(definition),
  });
  if (answer.status !== 201) throw new Error(`The workflow was refused: ${await answer.text()}`);
}

/** Starts runs of a workflow without inputs, 32 at a time. */
export async function startRuns(url: string, workflow: string, runs: number): Promise<void> {
  let left = runs;
  const starter = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const headers = { 'content-type': 'application/json' };
      const body = '{"inputs":{}}';
      const answer = await fetch(`${url}/api/workflows/${workflow}/runs`, { method: 'POST', headers, body });
      const text = await answer.text();
      if (answer.status !== 202) throw new Error(`A run was not started: ${answer.status} ${text}`);
    }
  };
  await Promise.all(Array.from({ length: STARTERS }, starter));
}

export const ECHO: WorkflowDefinition = { name: 'echo', nodes: [{ id: 'echo', type: 'input' }], edges: [] };
export const ECHO_PATH = '/a2a/workflows/echo/nodes/echo';
