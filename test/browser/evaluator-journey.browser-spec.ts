import type { Page } from 'playwright-core';
import type { JsonObject } from '#libs/protocol';
import { inBrowser, seriousFaults, seriousFaultsInEitherTheme, useBrowser } from '../support/browser.js';
import { type ConsoleHand, type HandName, handOf } from '../support/console-hand.js';
import { nodeReaches } from '../support/console-page.js';
import { type FakeAnswer, FakeLlm } from '../support/fake-llm.js';
import { IdentityProvider } from '../support/identity-provider.js';
import { McpHttpServer } from '../support/mcp-http-server.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { unique } from '../support/workflow.js';

const DESK = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
const WAYS: [HandName, typeof DESK][] = [
  ['mouse', DESK],
  ['touch', PHONE],
  ['keyboard', DESK],
  ['keyboard', PHONE],
];
const FAILURE = 'the model was called 1 times (maxSteps) and has no answer yet';
const FOUND = 'Pelicans carry fish in their bills.';

const env: Record<string, string> = {};
let provider: IdentityProvider;
let llm: FakeLlm;
let mcp: McpHttpServer;

beforeAll(async () => {
  [provider, llm, mcp] = await Promise.all([IdentityProvider.start(), FakeLlm.start(), McpHttpServer.start()]);
  Object.assign(env, provider.env());
  llm.answer = answerByTool;
  mcp.tools = [
    {
      name: 'search',
      description: 'Searches an encyclopedia',
      annotations: { readOnlyHint: true },
      inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
      call: () => ({ content: [{ type: 'text', text: FOUND }] }),
    },
  ];
});

const stage = useStage({ env });
const browser = useBrowser();
afterAll(() => Promise.all([provider.stop(), llm.stop(), mcp.stop()]));

/** Calls the first offered tool, then answers with its result; answers at once if no tool is offered. */
function answerByTool({ messages, tools }: JsonObject): FakeAnswer {
  const last = (messages as { role: string; content: string }[]).at(-1);
  const [tool] = (tools ?? []) as unknown as { function: { name: string } }[];
  if (!tool || last?.role === 'tool') return { text: `It says: ${last?.content ?? ''}` };
  return { toolCalls: [{ id: 'c1', name: tool.function.name, args: { query: 'pelicans' } }] };
}

describe('the journey of an evaluator, from the empty console to a bulk rerun', () => {
  for (const [hand, size] of WAYS) {
    inBrowser(`works by ${hand} at ${size.width}x${size.height}`, async () => {
      const page = await browser.open(`${stage.parley.url}/workflows`, { ...size, touch: hand === 'touch' });
      const journey = new Journey(page, handOf(hand, page), hand === 'keyboard');
      await journey.signIn(await provider.token({ sub: 'ann', org: unique(hand), scope: 'agents workflows admin' }));
      await journey.addModel();
      await journey.addServer();
      await journey.drawAgent();
      await journey.watchItFail();
      await journey.findCause();
      await journey.mendIt();
      await journey.readDiff();
      await journey.rerunBoth();
    });
  }
});

/** Steps of one person in one browser. */
class Journey {
  private readonly isWide: boolean;
  private readonly model = 'house';
  private readonly server = 'library';
  private readonly workflow = 'birds';

  constructor(
    private readonly page: Page,
    private readonly hand: ConsoleHand,
    private readonly isByKeyboard: boolean,
  ) {
    this.isWide = (page.viewportSize()?.width ?? 0) > 1_000;
  }

  async signIn(token: string): Promise<void> {
    const { page, hand } = this;
    await hand.write(page.getByLabel('API key', { exact: true }), token);
    await hand.press(page.getByRole('button', { name: 'Sign in' }));
    await page.getByRole('heading', { name: 'No workflow yet' }).waitFor();
    await this.look('the empty console');
  }

  /** Adds a model, after a test of it. */
  async addModel(): Promise<void> {
    const { page, hand } = this;
    await this.goTo('Settings');
    await page.getByRole('heading', { name: 'No model yet' }).waitFor();
    await this.look('no model');
    await hand.press(this.link('Add a model'));
    await hand.write(this.field('Name'), this.model);
    await hand.write(this.field('Model'), 'house-1');
    await hand.write(this.field('Base URL'), llm.url);
    await hand.press(this.button('Test'));
    await page.locator('[data-cause="none"]').waitFor();
    await this.look('a tested model');
    await hand.press(this.button('Add'));
    await page.getByRole('table', { name: 'Models' }).getByRole('link', { name: this.model }).waitFor();
    await this.look('the models');
  }

  async addServer(): Promise<void> {
    const { page, hand } = this;
    await hand.press(page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'MCP servers' }));
    await page.getByRole('heading', { name: 'No MCP server yet' }).waitFor();
    await this.look('no MCP server');
    await hand.press(this.link('Add a server'));
    await hand.write(this.field('Name'), this.server);
    await hand.write(this.field('URL'), mcp.url);
    await this.look('a new MCP server');
    await hand.press(this.button('Add'));
    await page.locator(`[data-tool="${this.server}/search"]`).getByText('only reads').waitFor();
    await this.look('an MCP server');
  }

  /** Draws an input, an agent with a tool and a limit that is too low, and an output; saves it. */
  async drawAgent(): Promise<void> {
    const { page, hand } = this;
    await this.goTo('Workflows');
    await hand.press(this.link('New workflow'));
    await hand.write(this.field('Name'), this.workflow);
    await this.look('a new workflow');
    for (const type of ['User Input', 'Agent', 'Output']) await this.addNode(type);
    await page.locator('[data-node="output1"]').waitFor();
    await hand.press(this.node('agent1'));
    await hand.write(this.field('Prompt'), 'Look up {{input1}}');
    await hand.write(this.field('Model'), this.model);
    await hand.press(this.button('Tools'));
    await hand.press(this.button(`Tools of ${this.server}`));
    await hand.press(page.getByRole('checkbox', { name: 'search' }));
    await this.limitCalls('1');
    await this.look('an agent with a tool');
    await this.save();
    await page.waitForURL(`**/workflows/edit/${this.workflow}`);
  }

  /** Starts a run, which fails, and runs it again, which fails, too. */
  async watchItFail(): Promise<void> {
    const { page, hand } = this;
    await hand.press(this.button('Run'));
    await hand.write(page.getByRole('textbox', { name: 'input1' }), 'pelicans');
    await this.look('the dialog of a run');
    await hand.press(this.button('Start'));
    await page.waitForURL('**/runs/*');
    await nodeReaches(page, 'agent1', 'failed');
    const { pathname } = new URL(page.url());
    await hand.press(this.button('Run again'));
    await hand.press(page.getByRole('menuitem', { name: 'All nodes' }));
    await page.waitForURL((url) => url.pathname !== pathname);
    await nodeReaches(page, 'agent1', 'failed');
    await this.look('the graph of a failed run');
  }

  /** Goes from the error box to the node that failed, and reads what its model and its tool did. */
  async findCause(): Promise<void> {
    const { page, hand } = this;
    if (!this.isWide) await hand.press(page.getByRole('tab', { name: 'Details' }));
    await page.locator('[data-cause]').getByText(FAILURE).waitFor();
    await this.look('the error box');
    await hand.press(this.button('Open agent1'));
    const details = page.locator('[data-details="agent1"]');
    await details.getByText(FAILURE).first().waitFor();
    await details.locator('[data-step="tool"]').getByText(`${this.server}/search`).first().waitFor();
    await this.look('the failed node');
  }

  /** Raises the limit, which makes a second revision. */
  async mendIt(): Promise<void> {
    const { page, hand } = this;
    await hand.press(this.link('Open workflow'));
    await hand.press(this.node('agent1'));
    await this.limitCalls('5');
    await this.save();
    await page.getByRole('status').getByText('Saved', { exact: true }).waitFor();
  }

  async readDiff(): Promise<void> {
    const { page, hand } = this;
    await hand.press(this.link('History'));
    await page.getByText('Revision 2 · newest').waitFor();
    await page.locator('[data-node="agent1"][data-change="changed"]').waitFor();
    const changes = page.getByRole('region', { name: 'Changes' });
    await changes.getByText('config.maxSteps').waitFor();
    await this.look('the diff of two revisions');
  }

  /** Runs both failed runs again with the mended revision. */
  async rerunBoth(): Promise<void> {
    const { page, hand } = this;
    await this.goTo('Runs');
    await page.getByRole('table', { name: 'Runs' }).locator('tbody [data-status="failed"]').nth(1).waitFor();
    await hand.press(page.getByRole('checkbox', { name: 'Select all rows that are loaded' }));
    await page.getByRole('toolbar').getByText('2 selected').waitFor();
    await this.look('selected runs');
    await hand.press(this.button('Run again what failed …'));
    const dialog = page.getByRole('dialog', { name: 'Run again what failed' });
    await dialog.getByText('2 runs can be started again.').waitFor();
    await hand.press(dialog.getByRole('checkbox', { name: 'With the newest revision' }));
    await hand.press(dialog.getByRole('button', { name: 'Run again 2 runs' }));
    await dialog.getByText('2 runs started again.').waitFor();
    await this.look('the report of a bulk rerun');
    await hand.press(dialog.getByRole('button', { name: 'Done' }));
    const completed = page.locator('tbody tr', { has: page.locator('[data-status="completed"]') });
    await until(async () => (await completed.count()) === 2, { what: 'two completed runs' });
    await this.look('the runs');
    await hand.press(completed.first().getByRole('link'));
    await nodeReaches(page, 'output1', 'completed');
    if (!this.isWide) await hand.press(page.getByRole('tab', { name: 'Details' }));
    await page.getByRole('region', { name: 'Result', exact: true }).getByText(FOUND).first().waitFor();
    await this.look('the result');
  }

  /** Opens a view by the navigation; on a phone some views are under "More". */
  private async goTo(view: string): Promise<void> {
    const { page, hand } = this;
    const bar = page.getByRole('navigation', { name: 'Views' });
    if (this.isWide || view !== 'Settings') return hand.press(bar.getByRole('link', { name: view }));
    await hand.press(bar.getByRole('button', { name: 'More' }));
    await hand.press(page.getByRole('menuitem', { name: view }));
  }

  /** Adds a node behind the selected one: by the list of types, and by keyboard at a phone's size by the palette. */
  private async addNode(type: string): Promise<void> {
    const { page, hand } = this;
    const nodes = page.locator('[data-node]');
    const count = await nodes.count();
    if (this.isByKeyboard && !this.isWide) {
      await page.keyboard.press('Control+k');
      await hand.write(page.getByRole('combobox', { name: 'Find nodes and actions' }), type);
      await page.getByRole('option', { selected: true }).getByText(type, { exact: true }).waitFor();
      await page.keyboard.press('Enter');
    } else {
      const types = page.getByRole('group', { name: 'Node types' });
      await hand.press(types.getByRole('button', { name: type, exact: true }));
    }
    await nodes.nth(count).waitFor();
  }

  private async limitCalls(count: string): Promise<void> {
    await this.hand.press(this.page.getByRole('button', { name: /^Limits/ }));
    await this.hand.write(this.field('Calls of the model'), count);
  }

  private async save(): Promise<void> {
    if (this.isByKeyboard) await this.page.keyboard.press('Control+s');
    else await this.hand.press(this.button('Save'));
  }

  private node(id: string) {
    return this.page.locator(`.react-flow__node[data-id="${id}"]`);
  }

  private button(name: string) {
    return this.page.getByRole('button', { name, exact: true });
  }

  private link(name: string) {
    return this.page.getByRole('link', { name }).first();
  }

  private field(label: string) {
    return this.page.getByLabel(label, { exact: true });
  }

  /** Checks a view with axe. By keyboard in one theme: the colors of both are checked by mouse and touch. */
  private async look(view: string): Promise<void> {
    const faults = this.isByKeyboard ? await seriousFaults(this.page) : await seriousFaultsInEitherTheme(this.page);
    expect({ view, faults }).toEqual({ view, faults: [] });
  }
}
