import {
  type Artifact,
  artifactReference,
  dataPart,
  firstData,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Part,
  renderTemplate,
  type TemplateResolver,
  TextBudget,
  textPart,
} from '#libs/protocol';
import { outputText } from './node-output.js';
import type { NodeRun } from './node-run.js';
import { templateKey } from './node-templates.js';
import { inputText, inputValue, userInputNode } from './run-inputs.js';
import type { WorkflowNode } from './workflow.js';
import type { WorkflowGraph } from './workflow-graph.js';

/** As much of a run as the Message to a node is made of. */
export interface MessageSource {
  inputs: JsonObject;
  nodes: ReadonlyMap<string, NodeRun>;
  /** What the caller said, where no `input` node has it. */
  text?: string;
}

/**
 * The Parts of the Message that a node is called with: its text, and for a tool its arguments.
 * @param budget what all of it together may come to
 * @throws ContentTooLarge beyond it, before anything is put together
 */
export function nodeParts(
  node: WorkflowNode,
  graph: WorkflowGraph,
  run: MessageSource,
  budget = new TextBudget(),
): Part[] {
  const resolve = templateResolver(run);
  const text = textPart(nodeText(node, graph, run, { resolve, budget }));
  if (node.type !== 'tool') return [text];
  return [text, dataPart({ args: rendered(node.config['args'] ?? {}, { resolve, budget }) })];
}

interface Rendering {
  resolve: TemplateResolver;
  budget: TextBudget;
}

/** What references of a run stand for. The id of an input means the input, whatever a node of that id answered. */
export function templateResolver(run: MessageSource): TemplateResolver {
  return (id, suffix) => {
    const input = referredInput(run, id);
    const artifact = input === undefined ? run.nodes.get(id)?.artifacts[0] : inputArtifact(input);
    return artifactReference(artifact, suffix);
  };
}

/** Whether a reference of a run stands for anything, without putting together what. */
export function standsForSomething(run: MessageSource, id: string, suffix: readonly string[]): boolean {
  const wantsData = suffix.length === 1 && suffix[0] === 'data';
  if (referredInput(run, id) !== undefined) return !wantsData;
  const artifact = run.nodes.get(id)?.artifacts[0];
  if (artifact === undefined) return false;
  return !wantsData || firstData(artifact.parts) !== undefined;
}

function referredInput({ inputs }: MessageSource, id: string): JsonValue | undefined {
  return inputValue(inputs, id) ?? inputValue(inputs, userInputNode(id) ?? '');
}

function nodeText(
  node: WorkflowNode,
  graph: WorkflowGraph,
  run: MessageSource,
  { resolve, budget }: Rendering,
): string {
  if (node.type === 'input') {
    const input = inputValue(run.inputs, node.id);
    return input === undefined ? '' : inputText(input);
  }
  const prompt = node.config[templateKey(node.type)];
  if (typeof prompt === 'string' && prompt !== '') return renderTemplate(prompt, resolve, budget);
  const predecessors = graph.predecessors(node.id);
  const texts = predecessors.length === 0 ? [run.text ?? ''] : predecessors.map((id) => textOf(id, run));
  for (const text of texts) budget.spend(text.length + SEPARATOR.length);
  return texts.filter((text) => text !== '').join(SEPARATOR);
}

const SEPARATOR = '\n\n';

function textOf(id: string, { nodes, inputs }: MessageSource): string {
  const run = nodes.get(id);
  if (run && run.artifacts.length > 0) return outputText(run);
  const input = inputValue(inputs, id);
  return input === undefined ? '' : inputText(input);
}

function inputArtifact(value: JsonValue): Artifact {
  return { artifactId: '', parts: [textPart(inputText(value))] };
}

function rendered(value: JsonValue, rendering: Rendering): JsonValue {
  if (typeof value === 'string') return renderTemplate(value, rendering.resolve, rendering.budget);
  if (Array.isArray(value)) return value.map((item) => rendered(item, rendering));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rendered(item, rendering)]));
}
