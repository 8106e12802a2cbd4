import type { JsonObject } from '#libs/protocol';

interface GenerationExample {
  description: string;
  workflow: JsonObject;
}

/** Example definitions for a model: a chain, and a workflow with a decision and a loop. */
export const GENERATION_EXAMPLES: readonly GenerationExample[] = [
  {
    description: 'Summarize a text and translate the summary into French.',
    workflow: {
      name: 'french_summary',
      description: 'Summarizes a text and translates the summary into French.',
      nodes: [
        { id: 'text', type: 'input', config: { schema: { type: 'string' } } },
        { id: 'summary', type: 'agent', config: { prompt: 'Summarize in three sentences:\n\n{{text}}' } },
        { id: 'french', type: 'agent', config: { prompt: 'Translate into French:\n\n{{summary}}' } },
        { id: 'result', type: 'output', config: { prompt: '{{french}}' } },
      ],
      edges: [
        { from: 'text', to: 'summary' },
        { from: 'summary', to: 'french' },
        { from: 'french', to: 'result' },
      ],
    },
  },
  {
    description: 'Draft an announcement, improve it up to three times until a reviewer is content, then ask a person.',
    workflow: {
      name: 'reviewed_announcement',
      description: 'Drafts an announcement that a reviewer and a person accept.',
      language: 2,
      nodes: [
        { id: 'topic', type: 'input', config: { schema: { type: 'string' } } },
        {
          id: 'draft',
          type: 'agent',
          config: {
            prompt:
              "Announce this in one paragraph: {{topic}}\n\n${iteration > 1 ? 'Advice: ' + nodes.review.data.advice : ''}",
          },
        },
        {
          id: 'review',
          type: 'agent',
          config: {
            prompt: 'Review this announcement:\n\n{{draft}}',
            output: {
              type: 'object',
              properties: { ok: { type: 'boolean' }, advice: { type: 'string' } },
              required: ['ok', 'advice'],
            },
          },
        },
        {
          id: 'approve',
          type: 'human',
          branch: 'first',
          config: {
            prompt: 'Publish this announcement?\n\n{{draft}}',
            form: { type: 'object', properties: { decision: { enum: ['yes', 'no'] } }, required: ['decision'] },
          },
        },
        { id: 'published', type: 'output', config: { prompt: '{{draft}}' } },
        { id: 'rejected', type: 'output', config: { prompt: 'The announcement was rejected.' } },
      ],
      edges: [
        { from: 'topic', to: 'draft' },
        { from: 'draft', to: 'review' },
        { from: 'review', to: 'draft', loop: { max_iterations: 3, exit_when: 'nodes.review.data.ok' } },
        { from: 'review', to: 'approve' },
        { from: 'approve', to: 'published', when: "nodes.approve.data.decision == 'yes'" },
        { from: 'approve', to: 'rejected' },
      ],
    },
  },
];
