import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Run of schemathesis against one service. */
export interface SchemathesisOptions {
  /** Folder of its programs. */
  bin: string;
  url: string;
  /** Token that authenticates the caller; absent without authentication. */
  token?: string;
  seed: number;
  /** Number of cases of each operation in the phase that makes them at random. */
  casesPerOperation: number;
}

export interface SchemathesisOutcome {
  /** True if every check passed. */
  passed: boolean;
  /** Number of requests that were sent and checked. */
  cases: number;
  output: string;
}

/**
 * Settings: the checks that cannot hold, each with its reason.
 *
 * - A definition, a filter and a name have rules that no schema states, such as edges between nodes that exist.
 * - Streams are text; schemathesis compares each of their events with the schema of the whole.
 * - `checkWorkflow` reports the problems of anything that is sent, with 200. `runWorkflow` takes inputs that are no
 *   object as none. A form may hold any file. Some optional members count as absent if they are null.
 * - The model of `generateWorkflow` may fail (502).
 * - `POST /api/files` is a second name of `uploadFiles`, and is not in the document.
 */
const SETTINGS = `
[checks]
positive_data_acceptance.enabled = false
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429, "5xx"]

[[operations]]
include-operation-id = ["sendAgentMessage", "runWorkflow"]
checks.response_schema_conformance.enabled = false

[[operations]]
include-operation-id = ["checkWorkflow", "runWorkflow", "uploadFiles", "applyWorkflows", "startBrainstorm"]
checks.negative_data_rejection.enabled = false

[[operations]]
include-operation-id = ["checkExpression", "generateWorkflow"]
checks.negative_data_rejection.enabled = false

[[operations]]
include-operation-id = "generateWorkflow"
checks.not_a_server_error.enabled = false

[[operations]]
include-operation-id = ["listFiles", "uploadFiles"]
checks.unsupported_method.enabled = false
checks.allow_header_conformance.enabled = false
`;

/**
 * Returns the settings of a run. The token stands there, not in a header of every request, because some checks send
 * requests without it.
 */
function settingsFor({ token }: SchemathesisOptions): string {
  if (token === undefined) return SETTINGS;
  // The requests with another method carry no token, so their answer is 401: only a caller learns what methods exist.
  const checks = SETTINGS.replace('[checks]', '[checks]\nunsupported_method.enabled = false');
  return `${checks}\n[auth.openapi.bearer]\nbearer = ${JSON.stringify(token)}\n`;
}

/** Streams that do not end by themselves. */
const ENDLESS = '^/api/(events|(runs|conversations|brainstorms)/[^/]+/events)$';

/** Runs all phases, with links between operations. Its files are gone afterwards. */
export async function runSchemathesis(options: SchemathesisOptions): Promise<SchemathesisOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-schemathesis-'));
  try {
    const settings = join(folder, 'schemathesis.toml');
    const report = join(folder, 'report.json');
    writeFileSync(settings, settingsFor(options));
    const { code, output } = await run(join(options.bin, 'schemathesis'), argsOf(options, settings, report), folder);
    return { passed: code === 0, cases: casesIn(output), output };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function argsOf(options: SchemathesisOptions, settings: string, report: string): string[] {
  return [
    ...['--config-file', settings, 'run', `${options.url}/docs-json`, '--no-color', '--warnings', 'off'],
    ...['--phases', 'examples,coverage,fuzzing,stateful', '--max-examples', String(options.casesPerOperation)],
    ...['--seed', String(options.seed), '--exclude-path-regex', ENDLESS, '--request-timeout', '120'],
    ...['--report', 'json', '--report-json-path', report, '--continue-on-failure'],
  ];
}

function casesIn(output: string): number {
  return Number(/(\d+) generated/.exec(output)?.[1] ?? 0);
}

function run(command: string, args: string[], cwd: string): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.on('error', reject).on('close', (code) => resolve({ code, output }));
  });
}
