/** Conversation and brainstorm for the pictures. */
import { setTimeout as pause } from 'node:timers/promises';
import { saveWorkflow } from '../demo/parley-api.mjs';

const IDEA = 'A tea shop on the moon';

/** Lets two agents talk to the end. @returns the conversation's id and the name of one of the agents */
export async function converse(parleyUrl) {
  await saveWorkflow(parleyUrl, INTERVIEW);
  const nodes = `workflows/${INTERVIEW.name}/nodes`;
  const { conversationId } = await post(`${parleyUrl}/api/conversations`, {
    requester: `${nodes}/reporter`,
    target: `${nodes}/engineer`,
    message: 'What happens to a Task when the process that works on it **dies**?',
    maxTurns: 2,
  });
  await ended(`${parleyUrl}/api/conversations/${conversationId}`, ({ status }) => status === 'complete');
  return { conversationId, engineer: `${nodes}/engineer` };
}

/** Lets three agents work on an idea until they agree. @returns the brainstorm's id */
export async function brainstorm(parleyUrl, agentUrl) {
  const agents = ['build', 'devils_advocate', 'refine'].map((role) => ({ agent: agentUrl, name: NAMES[role], role }));
  const { brainstormId } = await post(`${parleyUrl}/api/brainstorms`, { idea: IDEA, agents });
  await ended(`${parleyUrl}/api/brainstorms/${brainstormId}`, ({ status }) => status !== 'active');
  return { brainstormId };
}

const NAMES = { build: 'architect', devils_advocate: 'sceptic', refine: 'editor' };

async function post(url, body) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url}: HTTP ${response.status} ${await response.text()}`);
  return response.json();
}

async function ended(url, fits) {
  for (;;) {
    const response = await fetch(url);
    if (fits(await response.json())) return;
    await pause(100);
  }
}

function script(id, text) {
  const otherwise = [{ artifact: { parts: [{ text }] } }, { complete: 'answered' }];
  return { id, type: 'script', config: { script: { rules: [], otherwise } } };
}

const INTERVIEW = {
  name: 'interview',
  description: 'A reporter asks an engineer.',
  nodes: [
    script('reporter', 'And what if **both** copies of it run for a moment?'),
    script(
      'engineer',
      'Nothing is lost:\n\n1. its events were committed before anyone heard of them\n2. another replica claims it\n' +
        '3. it resumes **after the last event**\n\nEvery claim has a *fencing token*, so `a writer that lost it cannot write`.',
    ),
  ],
  edges: [],
};
