export interface WorkflowDefinition {
  name: string;
  nodes: { id: string; type: string; config?: object; each?: object }[];
  edges: { from: string; to: string }[];
}

/** Saves a workflow at a running Parley. */
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

export const ECHO: WorkflowDefinition = { name: 'echo', nodes: [{ id: 'echo', type: 'input' }], edges: [] };
export const ECHO_PATH = '/a2a/workflows/echo/nodes/echo';
