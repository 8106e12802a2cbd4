import { firstData, type Artifact, type JsonValue, type RunEventNote, textStart } from '#libs/protocol';
import type { NodeInstance } from './node-run.js';
import { NodeStep } from './run-step.js';

/** Number of rounded numbers that are reported for one value. */
const MOST_REPORTED = 10;
const LONGEST_PATH = 200;
/** Bound up to which every integer is exact. */
const LARGEST_EXACT = 2 ** 53;
/** Significant digits above which a double has no room for more. */
const DIGITS_OF_DOUBLE = 16;

const numberRounded = new NodeStep<{ path: string; value: number; message: string }>('number.rounded', () => undefined);

/** Reports integers in a node's result that may differ from those that were sent. */
export function roundedResult(node: NodeInstance, artifacts: readonly Artifact[]): RunEventNote[] {
  const data = artifacts[0] && firstData(artifacts[0].parts);
  return data === undefined ? [] : roundedNumbers(node, node.type === 'input' ? `inputs.${node.id}` : 'output', data);
}

/** Reports integers in a tool result that may differ from those that were sent. */
export function roundedToolResult(node: NodeInstance, result: JsonValue | undefined): RunEventNote[] {
  return result === undefined ? [] : roundedNumbers(node, 'result', result);
}

/**
 * Finds rounded integers. JSON numbers are doubles, as in A2A (`google.protobuf.Value`): an integer beyond 2^53 is
 * rounded by its first reader.
 */
function roundedNumbers(node: NodeInstance, name: string, value: JsonValue): RunEventNote[] {
  const found: RunEventNote[] = [];
  const rest: [path: string, value: JsonValue][] = [[name, value]];
  for (let next = rest.pop(); next !== undefined && found.length < MOST_REPORTED; next = rest.pop()) {
    const [path, at] = next;
    if (typeof at === 'number') {
      if (!mayBeRounded(at)) continue;
      const shown = textStart(path, LONGEST_PATH);
      const message = `${shown} may have been rounded: integers beyond 2^53 keep their digits as texts only`;
      found.push(numberRounded.createNote(node, { path: shown, value: at, message }));
    } else if (Array.isArray(at)) {
      for (let index = at.length - 1; index >= 0; index -= 1) rest.push([`${path}[${index}]`, at[index] ?? null]);
    } else if (typeof at === 'object' && at !== null) {
      for (const [member, it] of Object.entries(at).reverse()) rest.push([`${path}.${member}`, it]);
    }
  }
  return found;
}

/**
 * True for an integer whose shortest decimal form needs all digits of a double. A number such as `1e20` counts as
 * exact.
 */
function mayBeRounded(value: number): boolean {
  if (!Number.isInteger(value) || Math.abs(value) <= LARGEST_EXACT) return false;
  const [mantissa = ''] = value.toExponential().split('e');
  return mantissa.replace('-', '').replace('.', '').length >= DIGITS_OF_DOUBLE;
}
