/**
 * Parser for the part of Mermaid that the docs use: flowcharts of labeled nodes in subgraphs, and sequence diagrams of
 * declared participants. Any other line is reported as a problem, even if Mermaid supports it.
 */

const PARTICIPANT = /^(?:participant|actor) (\w+)(?: as (.+))?$/;
const MESSAGE = /^(\w+)(?:->>|-->>|-x|--x)([+-]?)(\w+): (.+)$/;
const NOTE = /^Note (?:over (\w+)(?:,(\w+))?|(?:left|right) of (\w+)): .+$/;
const OPENING = /^(?:loop|alt|opt|par|critical|break) .+$/;
const MIDDLE = /^(?:else|and|option)(?: .+)?$/;
const SUBGRAPH = /^subgraph (\w+)\["([^"]+)"\]$/;
const NODE = /^(\w+)(?:\["([^"]+)"\]|\[\("([^"]+)"\)\]|\(\["([^"]+)"\]\))$/;
const EDGE = /^(\w+) (?:-->|-\.->|---)(?:\|[^|]+\|)? (\w+)$/;
/** Pattern of characters in a text by which Mermaid would end the text or begin another element. */
const BROKEN = /[;#]/;

/**
 * Returns the labels of a diagram's participants by their ids, the methods that messages call (`begin()`) with the
 * participant they go to, and a sentence for each line that is wrong.
 */
export function parseDiagram(source) {
  const [head = '', ...lines] = source.split('\n').map((it) => it.trim());
  const kept = lines.filter((it) => it !== '' && !it.startsWith('%%'));
  if (head === 'sequenceDiagram') return parsed(kept, sequenceLine);
  if (/^flowchart (?:TB|TD|LR|RL|BT)$/.test(head)) return parsed(kept, flowchartLine);
  return { problems: [`"${head}" begins no diagram that is known here`], participants: new Map(), calls: [] };
}

function parsed(lines, read) {
  const diagram = { problems: [], participants: new Map(), calls: [], open: 0, used: new Set() };
  for (const line of lines) {
    if (BROKEN.test(line)) diagram.problems.push(`"${line}" has a sign that breaks Mermaid`);
    else if (!read(line, diagram)) diagram.problems.push(`"${line}" is no line of such a diagram`);
  }
  if (diagram.open !== 0) diagram.problems.push('a block is not closed by "end", or closed twice');
  const { participants, used, problems } = diagram;
  problems.push(...[...used].filter((it) => !participants.has(it)).map((it) => `${it} is not declared`));
  return diagram;
}

function sequenceLine(line, diagram) {
  const { participants, calls } = diagram;
  const [, id, label] = PARTICIPANT.exec(line) ?? [];
  if (id !== undefined) return participants.set(id, label ?? id);
  const [, from, , to, text] = MESSAGE.exec(line) ?? [];
  if (from !== undefined) {
    const [, method] = /^(\w+)\(\)/.exec(text) ?? [];
    if (method !== undefined) calls.push({ method, to });
    return use(diagram, from, to);
  }
  const [note, ...about] = NOTE.exec(line) ?? [];
  if (note !== undefined) return use(diagram, ...about.filter((it) => it !== undefined));
  return isOfBlock(line, diagram, OPENING);
}

function flowchartLine(line, diagram) {
  const { participants } = diagram;
  const [, group, title] = SUBGRAPH.exec(line) ?? [];
  if (group !== undefined) {
    participants.set(group, title);
    diagram.open += 1;
    return true;
  }
  const [, id, ...labels] = NODE.exec(line) ?? [];
  if (id !== undefined)
    return participants.set(
      id,
      labels.find((it) => it !== undefined),
    );
  const [, from, to] = EDGE.exec(line) ?? [];
  if (from !== undefined) return use(diagram, from, to);
  return /^direction (?:TB|LR)$/.test(line) || isOfBlock(line, diagram);
}

function isOfBlock(line, diagram, opening) {
  if (line === 'end') diagram.open -= 1;
  else if (opening?.test(line)) diagram.open += 1;
  else return opening !== undefined && MIDDLE.test(line) && diagram.open > 0;
  return diagram.open >= 0;
}

function use({ used }, ...ids) {
  for (const id of ids) used.add(id);
  return true;
}
