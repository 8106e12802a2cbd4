import { readFile } from 'node:fs/promises';
import type { NodeSpec } from '#libs/executor';
import { scriptProblems } from '#libs/nodes';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import type { AgentArguments } from './arguments.js';

/**
 * Returns the node that does the agent's work, standing alone: a `script`, an `order` or an `agent` node.
 * @throws Error with the reason why the script cannot be used
 */
export async function agentNode(wanted: AgentArguments): Promise<NodeSpec> {
  if (wanted.script !== undefined) {
    return { id: wanted.name, type: 'script', config: { script: await readScript(wanted.script) } };
  }
  if (wanted.order) return { id: wanted.name, type: 'order', config: {} };
  const config: JsonObject = {
    ...(wanted.model !== undefined && { model: wanted.model }),
    ...(wanted.systemPrompt !== undefined && { system_prompt: wanted.systemPrompt }),
  };
  return { id: wanted.name, type: 'agent', config };
}

async function readScript(path: string): Promise<JsonObject> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new Error(`${path} cannot be read`);
  });
  const script = parseScript(text);
  if (!isJsonObject(script)) throw new Error(`${path} is not a JSON object`);
  const problems = scriptProblems(script);
  if (problems.length > 0) throw new Error(problems.map((problem) => `${path}: ${problem}`).join('\n'));
  return script;
}

function parseScript(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
