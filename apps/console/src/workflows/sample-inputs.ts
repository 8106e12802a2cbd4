import type { InputValues } from '../schema/run-inputs.js';

/** Inputs of templates that this tab has opened, by the names of their drafts. */
const samples = new Map<string, InputValues>();

/** Keeps the inputs of a template, so that the form of its first run shows them. */
export function keepSampleInputs(name: string, inputs: InputValues): void {
  samples.set(name, inputs);
}

/** Returns the inputs that the form of a run shows first; empty for a workflow that is not from a template. */
export function sampleInputs(name: string): InputValues {
  return samples.get(name) ?? {};
}
