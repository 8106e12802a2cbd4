export { NodesModule } from './nodes.module.js';
export type { NodeType } from '#libs/executor';
export { NodeTypeRegistry } from './node-type-registry.js';
export { AgentNode } from './agent-node.js';
export { AgentMemory } from './agent/agent-memory.js';
export { BuiltInTools } from './agent/agent-tools.js';
export { ToolRegistry } from './tools/tool-registry.js';
export { ScriptNode } from './script-node.js';
export { scriptProblems } from './script/parse-script.js';
