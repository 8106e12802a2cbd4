/**
 * View of a run in a terminal: one line per event, and on an interactive terminal the tree of nodes below the lines.
 */
import { blue, bold, cyan, dim, green, magenta, red, yellow } from './paint.mjs';

const REDRAW_MS = 100;
const SUBJECT_WIDTH = 11;
const TYPE_WIDTH = 15;
/** Width of the elapsed time, the subject and the type, with the spaces between them. */
const BEFORE_TELLING = 7 + 2 + SUBJECT_WIDTH + 1 + TYPE_WIDTH + 1;
const PLAIN_WIDTH = 110;

const STATES = {
  pending: { sign: '·', colour: dim },
  running: { sign: '●', colour: yellow },
  'input-required': { sign: '?', colour: magenta },
  completed: { sign: '✓', colour: green },
  failed: { sign: '✗', colour: red },
  canceled: { sign: '⊘', colour: red },
};

const NODE_STATE_AFTER = {
  'node.started': 'running',
  'node.completed': 'completed',
  'node.error': 'failed',
  'node.canceled': 'canceled',
  'input.required': 'input-required',
  'input.received': 'running',
};

const COLOURS = {
  'node.started': yellow,
  'a2a.sending': cyan,
  'a2a.received': cyan,
  'node.completed': green,
  'node.error': red,
  'node.canceled': red,
  'model.request': magenta,
  'model.response': magenta,
  'model.error': red,
  'tool.call': blue,
  'tool.result': blue,
  'workflow.failed': red,
  'workflow.canceled': red,
};

export class LiveView {
  #workflow;
  #out;
  #started = Date.now();
  #nodes = new Map();
  #panelLines = 0;
  #timer;
  #ended = false;

  constructor(workflow, out = process.stdout) {
    this.#workflow = workflow;
    this.#out = out;
    for (const node of workflow.nodes) this.#nodes.set(node.id, { state: 'pending' });
    if (!out.isTTY) return;
    this.#drawPanel();
    this.#timer = setInterval(() => this.#redraw(), REDRAW_MS);
  }

  show(event) {
    const state = event.node_id && NODE_STATE_AFTER[event.type];
    if (state) this.#move(this.#nodes.get(event.node_id), state);
    // Models stream many chunks without a word, such as the beginning of an Artifact.
    if (event.type === 'node.progress' && progressText(event).trim() === '') return this.#redraw();
    this.#redraw(`${this.#lineOf(event)}\n`);
  }

  /** Prints a line between those of the events. */
  say(text) {
    this.#redraw(`${dim(elapsed(this.#started))}  ${text}\n`);
  }

  /**
   * Leaves the current tree on the screen. Without an interactive terminal, the tree is drawn here for the first time.
   */
  end() {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.#timer);
    if (this.#out.isTTY) this.#redraw();
    else this.#out.write(this.#panel());
    this.#panelLines = 0;
  }

  #move(node, state) {
    if (!node) return;
    node.state = state;
    if (state === 'running') node.startedAt ??= Date.now();
    else node.endedAt = Date.now();
  }

  #lineOf(event) {
    const colour = COLOURS[event.type] ?? bold;
    const subject = (event.node_id ?? event.workflow ?? '').padEnd(SUBJECT_WIDTH);
    const line = `${dim(elapsed(this.#started))}  ${subject} ${colour(event.type.padEnd(TYPE_WIDTH))} ${dim(shortened(tellingOf(event), this.#room()))}`;
    return line.trimEnd();
  }

  /** Returns the number of columns that are left for the description of an event. */
  #room() {
    return Math.max(20, (this.#out.columns ?? PLAIN_WIDTH) - BEFORE_TELLING);
  }

  #redraw(above = '') {
    if (!this.#out.isTTY) {
      this.#out.write(above);
      return;
    }
    const up = this.#panelLines > 0 ? `\u001b[${this.#panelLines}A\u001b[0J` : '';
    this.#out.write(up + above);
    this.#drawPanel();
  }

  #drawPanel() {
    const panel = this.#panel();
    this.#panelLines = panel.split('\n').length - 1;
    this.#out.write(panel);
  }

  #panel() {
    const lines = this.#workflow.nodes.map((node) => this.#nodeLine(node));
    return `\n${lines.join('\n')}\n`;
  }

  #nodeLine({ id, type }) {
    const { state, startedAt, endedAt } = this.#nodes.get(id);
    const { sign, colour } = STATES[state];
    const parents = this.#workflow.edges.filter((edge) => edge.to === id).map((edge) => edge.from);
    const indent = '  '.repeat(this.#depth(id));
    const name = `${indent}${parents.length > 0 ? '└ ' : ''}${colour(`${sign} ${id}`)} ${dim(`(${type})`)}`;
    const after = parents.length > 1 ? dim(`  after ${parents.join(' + ')}`) : '';
    return `  ${name}${startedAt ? `  ${elapsed(startedAt, endedAt)}` : ''}${after}`;
  }

  #depth(id) {
    const parents = this.#workflow.edges.filter((edge) => edge.to === id);
    return parents.length === 0 ? 0 : 1 + Math.max(...parents.map((edge) => this.#depth(edge.from)));
  }
}

/** Describes an event, besides its type, in a few words on one line. */
function tellingOf(event) {
  const { type, url, model, tool, message, status, error, output, result } = event;
  if (type === 'a2a.sending') return `→ ${url ?? ''}`;
  if (type === 'node.progress') return progressText(event);
  if (error !== undefined) return textOf(error);
  const words = [model, tool, message ?? status, output ?? result].filter((word) => word !== undefined);
  return words.map(textOf).join(' · ');
}

/** Returns the text of a `node.progress` event: words of an agent at work, or a chunk of the Artifact that it streams. */
function progressText({ payload = {} }) {
  const parts = payload.artifact?.parts ?? [];
  return payload.text ?? parts.map(({ text }) => text ?? '').join('');
}

function textOf(value) {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function shortened(text, room) {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > room ? `${line.slice(0, room - 1)}…` : line;
}

function elapsed(from, to = Date.now()) {
  return `${((to - from) / 1000).toFixed(1).padStart(5)} s`;
}
