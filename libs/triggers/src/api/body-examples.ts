/** Example request bodies for the API documentation, for the workflow `greeting` of its other examples. */

const GITHUB = { scheme: 'github', secrets: ['github-push'] };
const INPUTS = { name: '${body.sender.login}' };

export const TRIGGER_EXAMPLES = {
  'pushes to a branch': {
    value: {
      ...{ name: 'on-push', workflow: 'greeting', webhook: GITHUB },
      when: "headers['x-github-event'] == 'push' && body.ref == 'refs/heads/main'",
      inputs: INPUTS,
    },
  },
  'a plain HMAC': {
    value: {
      ...{ name: 'on-order', workflow: 'greeting', inputs: { name: '${body.customer}' } },
      webhook: { scheme: 'hmac', secrets: ['shop'], header: 'X-Shop-Signature', encoding: 'base64' },
    },
  },
  'the failure of a run': {
    value: {
      ...{ name: 'on-failure', workflow: 'greeting', run: { workflow: 'greeting', statuses: ['failed'] } },
      inputs: { name: '${run.id}' },
    },
  },
};

export const TRIGGER_REPLACEMENT_EXAMPLES = {
  'all events': { value: { workflow: 'greeting', webhook: GITHUB, inputs: INPUTS } },
};
