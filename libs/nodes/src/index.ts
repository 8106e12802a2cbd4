export { NodesModule } from './nodes.module.js';
export type { NodeType } from '#libs/executor';
export { NodeTypeRegistry } from './node-type-registry.js';
export { AgentNode } from './agent-node.js';
export { ScriptNode } from './script-node.js';
export { scriptProblems } from './script/parse-script.js';
