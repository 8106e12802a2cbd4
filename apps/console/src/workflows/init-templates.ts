import type { InputValues } from '../schema/run-inputs.js';
import type { Definition } from './workflow-api.js';

/** The workflows of `parley init`, by the paths of their files. */
const FILES = import.meta.glob<Definition>('../../../../examples/*/workflow.json', { eager: true, import: 'default' });
const INPUTS = import.meta.glob<Record<string, InputValues>>('../../../../examples/inputs.json', {
  eager: true,
  import: 'default',
});

/** Template of a workflow that calls no remote agents. */
export interface InitTemplate {
  definition: Definition;
  /** Inputs for a first run. */
  inputs: InputValues;
}

const [inputsOf = {}] = Object.values(INPUTS);

/** Templates by name. A workflow that calls remote agents is left out, since the person would have to start them. */
export const INIT_TEMPLATES: readonly InitTemplate[] = Object.values(FILES)
  .filter(({ nodes }) => nodes.every(({ type }) => type !== 'external'))
  .map((definition) => ({ definition, inputs: inputsOf[definition.name] ?? {} }))
  .sort((a, b) => a.definition.name.localeCompare(b.definition.name));
