import {
  ArrowRightFromLine,
  Bot,
  Brain,
  Braces,
  CircleQuestionMark,
  Globe,
  Hourglass,
  type LucideIcon,
  MessagesSquare,
  ScrollText,
  UserRound,
  UserRoundCheck,
  Workflow,
  Wrench,
} from 'lucide-react';

/** Look of a node type: its icon, label and colors. */
export interface NodeLook {
  label: string;
  description: string;
  Icon: LucideIcon;
  /** CSS classes of the node's border and background. */
  box: string;
  /** CSS classes of the icon's square. */
  accent: string;
  /** CSS classes of a selected or running node. */
  glow: string;
  /** True if nodes of the type control the flow and do no work themselves. */
  directs?: boolean;
}

const LOOKS: Readonly<Record<string, NodeLook>> = {
  input: {
    label: 'User Input',
    description: 'Input from the person who starts the run',
    Icon: UserRound,
    box: 'border-node-input/50 bg-node-input/10',
    accent: 'bg-node-input text-background',
    glow: 'shadow-[0_0_16px_oklch(0.6_0.15_245/0.4)]',
  },
  agent: {
    label: 'Agent',
    description: 'A language model with a prompt',
    Icon: Bot,
    box: 'border-node-agent/50 bg-node-agent/10',
    accent: 'bg-node-agent text-background',
    glow: 'shadow-[0_0_16px_oklch(0.55_0.2_275/0.4)]',
  },
  tool: {
    label: 'Tool',
    description: 'Calls a registered tool',
    Icon: Wrench,
    box: 'border-node-tool/50 bg-node-tool/10',
    accent: 'bg-node-tool text-background',
    glow: 'shadow-[0_0_16px_oklch(0.7_0.14_70/0.4)]',
  },
  output: {
    label: 'Output',
    description: 'Result of the run',
    Icon: ArrowRightFromLine,
    box: 'border-node-output/50 bg-node-output/10',
    accent: 'bg-node-output text-background',
    glow: 'shadow-[0_0_16px_oklch(0.6_0.15_152/0.4)]',
  },
  external: {
    label: 'External Agent',
    description: 'External A2A-compatible agent',
    Icon: Globe,
    box: 'border-purple-500/50 bg-purple-500/10',
    accent: 'bg-purple-500 text-white',
    glow: 'shadow-[0_0_16px_oklch(0.553_0.235_303.4/0.4)]',
  },
  script: {
    label: 'Script',
    description: 'A scripted agent that follows rules',
    Icon: ScrollText,
    box: 'border-slate-500/50 bg-slate-500/10',
    accent: 'bg-slate-500 text-white',
    glow: 'shadow-[0_0_16px_oklch(0.55_0.04_257/0.4)]',
  },
  conversation: {
    label: 'Conversation',
    description: 'Two agents talk, turn by turn',
    Icon: MessagesSquare,
    box: 'border-teal-500/50 bg-teal-500/10',
    accent: 'bg-teal-600 text-white',
    glow: 'shadow-[0_0_16px_oklch(0.7_0.12_183/0.4)]',
  },
  brainstorm: {
    label: 'Brainstorm',
    description: 'Agents in roles develop one idea in passes',
    Icon: Brain,
    box: 'border-pink-500/50 bg-pink-500/10',
    accent: 'bg-pink-600 text-white',
    glow: 'shadow-[0_0_16px_oklch(0.65_0.22_355/0.4)]',
  },
  set: {
    label: 'Set',
    description: 'Computes data from the results of other nodes',
    Icon: Braces,
    box: 'border-cyan-500/50 bg-cyan-500/10',
    accent: 'bg-cyan-700 text-white',
    glow: 'shadow-[0_0_16px_oklch(0.61_0.11_222/0.4)]',
    directs: true,
  },
  wait: {
    label: 'Wait',
    description: 'Waits for a duration or until a time',
    Icon: Hourglass,
    box: 'border-amber-500/50 bg-amber-500/10',
    accent: 'bg-amber-700 text-white',
    glow: 'shadow-[0_0_16px_oklch(0.67_0.16_58/0.4)]',
    directs: true,
  },
  human: {
    label: 'Human',
    description: 'Asks a person and continues with the answer',
    Icon: UserRoundCheck,
    box: 'border-rose-500/50 bg-rose-500/10',
    accent: 'bg-rose-600 text-white',
    glow: 'shadow-[0_0_16px_oklch(0.65_0.24_16/0.4)]',
    directs: true,
  },
  workflow: {
    label: 'Workflow',
    description: 'Runs another workflow',
    Icon: Workflow,
    box: 'border-indigo-500/50 bg-indigo-500/10',
    accent: 'bg-indigo-600 text-white',
    glow: 'shadow-[0_0_16px_oklch(0.51_0.23_277/0.4)]',
    directs: true,
  },
};

/** Node types in the palette, in order: first the types that do work, then those that control the flow. */
export const NODE_TYPES: readonly string[] = Object.keys(LOOKS).filter((type) => !LOOKS[type]?.directs);
export const FLOW_TYPES: readonly string[] = Object.keys(LOOKS).filter((type) => LOOKS[type]?.directs);

/** Returns the look of a type; an unknown type gets a neutral look. */
export function nodeLook(type: string): NodeLook {
  return (
    LOOKS[type] ?? {
      label: type,
      description: `A node of type ${type}`,
      Icon: CircleQuestionMark,
      box: 'border-border bg-muted',
      accent: 'bg-muted-foreground text-background',
      glow: 'shadow-lg',
    }
  );
}
