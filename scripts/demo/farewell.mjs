/** Last output of the demo: where everything is, and what to try next. */
import { bold, cyan, dim } from './paint.mjs';

const HEADERS = `-H 'A2A-Version: 1.0' -H 'Content-Type: application/json'`;
const BODY = `-d '{"message":{"messageId":"try-1","role":"ROLE_USER","parts":[{"text":"Bicycles in cities"}]}}'`;

/** @param when condition under which the printed commands work */
export function farewell({ parleyUrl, agentUrl, workflow, runId, logs, when }) {
  const agent = `${parleyUrl}/a2a/workflows/${workflow}`;
  return `
${bold('Where things are')}
  Console   ${cyan(parleyUrl)}  ${dim('see it, try it, draw it')}
  This run  ${cyan(`${parleyUrl}/runs/${runId}`)}
  API       ${cyan(`${parleyUrl}/docs`)}
  Agent     ${cyan(`${agent}/`)}  ${dim('what any A2A client takes')}
  Card      ${cyan(`${agent}/.well-known/agent-card.json`)}
  Logs      ${dim(logs)}

${bold('Three things to try')} ${dim(`(${when})`)}
  1. Send the workflow a Message, as any A2A client would:
     curl -sN ${agent}/message:stream ${HEADERS} \\
       ${BODY}
  2. Read this run again from its first event; add -H 'Last-Event-ID: 10' to continue after the tenth:
     curl -sN ${parleyUrl}/api/runs/${runId}/events
  3. Ask one of the agents directly, without Parley:
     curl -s ${agentUrl}/a2a/message:send ${HEADERS} \\
       ${BODY}`;
}
