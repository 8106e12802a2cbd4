import { Globe } from 'lucide-react';
import { FLOW_TYPES, NODE_TYPES, nodeLook } from './node-looks.js';

describe('rows G1 and G2: how nodes look', () => {
  it('row G1: the founding types have their labels, and external its description', () => {
    const labels = ['input', 'agent', 'tool', 'output', 'external'].map((type) => nodeLook(type).label);
    expect(labels).toEqual(['User Input', 'Agent', 'Tool', 'Output', 'External Agent']);
    expect(nodeLook('external').description).toBe('External A2A-compatible agent');
  });

  it('row G2: an external agent is a purple globe', () => {
    expect(nodeLook('external')).toMatchObject({
      Icon: Globe,
      box: 'border-purple-500/50 bg-purple-500/10',
      accent: 'bg-purple-500 text-white',
      glow: 'shadow-[0_0_16px_oklch(0.553_0.235_303.4/0.4)]',
    });
  });

  it('row G4: the palette offers every type, external among them', () => {
    expect(NODE_TYPES).toEqual([
      'input',
      'agent',
      'tool',
      'output',
      'external',
      'script',
      'conversation',
      'brainstorm',
    ]);
  });

  it('offers what directs a run beside them', () => {
    expect(FLOW_TYPES.map((type) => nodeLook(type).label)).toEqual(['Set', 'Wait', 'Human', 'Workflow']);
  });

  it('shows a type that it does not know by its name', () => expect(nodeLook('later').label).toBe('later'));
});
