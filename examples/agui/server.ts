import { HttpAgent } from '@ag-ui/client';
import { CopilotRuntime } from '@copilotkit/runtime/v2';
import { createCopilotNodeListener } from '@copilotkit/runtime/v2/node';
import { createServer } from 'node:http';
import { createServer as createVite } from 'vite';
import { resumingFetch } from './resuming-fetch.ts';

const PARLEY = process.env['PARLEY_URL'] ?? 'http://127.0.0.1:3000';
const WORKFLOW = process.env['PARLEY_WORKFLOW'] ?? 'agui-trip';
const KEY = process.env['PARLEY_API_KEY'];
const PORT = Number(process.env['PORT'] ?? 4000);
const RUNTIME = '/api/copilotkit';

/** Agent of CopilotKit: the workflow, whose stream is resumed if its connection is cut. */
const agent = new HttpAgent({
  url: `${PARLEY}/agui/workflows/${WORKFLOW}`,
  headers: KEY === undefined ? {} : { authorization: `Bearer ${KEY}` },
  fetch: resumingFetch(),
});
const runtime = new CopilotRuntime({ agents: { default: agent } });
const answerRuntime = createCopilotNodeListener({ runtime, basePath: RUNTIME });
const vite = await createVite({ root: import.meta.dirname, server: { middlewareMode: true }, appType: 'spa' });

createServer((request, response) => {
  if (request.url?.startsWith(RUNTIME)) void answerRuntime(request, response);
  else vite.middlewares(request, response);
}).listen(PORT, '127.0.0.1', () => {
  process.stdout.write(`Open http://127.0.0.1:${PORT} (workflow ${WORKFLOW} at ${PARLEY})\n`);
});
