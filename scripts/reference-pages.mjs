/**
 * First line of the pages of docs/reference, which this file generates from the descriptions by the service and the
 * command.
 */

const MADE = '<!-- Made by npm run reference. -->';

/**
 * Returns the page with every member of a workflow, of its nodes and edges, and of every config, from the JSON Schema
 * of workflows.
 */
export function nodesPage(schema) {
  const { nodes, edges, ...workflow } = schema.properties;
  const types = (nodes.items.allOf ?? []).map(({ if: { properties }, then }) => [properties.type.const, then]);
  const sections = [
    ['Workflow', rows(workflow, schema.required)],
    ['Node', rows(nodes.items.properties, nodes.items.required)],
    ['Edge', rows(edges.items.properties, edges.items.required)],
    ...types.map(([type, { properties }]) => [`\`${type}\``, configRows(properties?.config)]),
  ];
  const texts = sections.map(([title, lines]) => `## ${title}\n\n${lines.length === 0 ? 'No config.' : table(lines)}`);
  const intro =
    'What definitions may say, as `/schemas/workflow.json` has it; what it means is in\n[WORKFLOWS.md](../WORKFLOWS.md).';
  return `${MADE}\n\n# Workflows, nodes, edges\n\n${intro} Below the edges: the \`config\` of each type of node.\n\n${texts.join('\n\n')}\n`;
}

/** @param help returns the help text of a command, by the command's arguments */
export async function commandPage(help) {
  const all = await help();
  const names = [...all.split('\nCommands:\n')[1].matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name);
  // The stand-alone agent is another program, and tells of itself.
  const shown = names.filter((name) => !['help', 'agent'].includes(name));
  const helps = await Promise.all(shown.map((name) => help(name)));
  const sections = shown.map((name, index) => `## parley ${name}\n\n\`\`\`text\n${helps[index].trimEnd()}\n\`\`\``);
  const intro = 'What `parley --help` says; how it is meant is in [COMMAND.md](../COMMAND.md).';
  return `${MADE}\n\n# The parley command\n\n${intro}\n\n\`\`\`text\n${all.trimEnd()}\n\`\`\`\n\n${sections.join('\n\n')}\n`;
}

function configRows(config) {
  return config === undefined ? [] : rows(config.properties ?? {}, config.required);
}

/** Returns a table row for each member, each followed by the rows of its own members. */
function rows(properties, required = [], prefix = '') {
  return Object.entries(properties).flatMap(([name, member]) => {
    const path = `${prefix}${name}`;
    const own = [member, ...(member.anyOf ?? [])].find((it) => it.properties !== undefined);
    return [
      { path, value: valueOf(member), needed: required.includes(name), text: member.description ?? '' },
      ...(own === undefined ? [] : rows(own.properties, own.required, `${path}.`)),
    ];
  });
}

function table(lines) {
  const cells = lines.map(({ path, value, needed, text }) => {
    const what = [needed ? '**required**' : '', text].filter((it) => it !== '').join('; ');
    return `| \`${path}\` | ${escaped(value)} | ${escaped(what)} |`;
  });
  return ['| member | value | meaning |', '| --- | --- | --- |', ...cells].join('\n');
}

/** Describes the allowed values of a member in a word or two. */
function valueOf({ const: fixed, enum: words, anyOf, type, items, minimum, maximum, default: usual }) {
  const usually = usual === undefined || usual === null ? '' : `; ${JSON.stringify(usual)} unless set`;
  if (fixed !== undefined) return `\`${JSON.stringify(fixed)}\``;
  if (words)
    return (
      words
        .filter((word) => word !== null)
        .map((word) => `\`${JSON.stringify(word)}\``)
        .join(', ') + usually
    );
  if (anyOf) return [...new Set(anyOf.filter((it) => it.type !== 'null').map(valueOf))].join(' or ') + usually;
  const kinds = [type ?? 'any JSON'].flat().filter((kind) => kind !== 'null');
  if (kinds[0] === 'array') return `list of ${items === undefined ? 'any JSON' : valueOf(items)}`;
  return kinds.join(' or ') + rangeOf(minimum, maximum) + usually;
}

function rangeOf(minimum, maximum) {
  if (minimum === undefined) return maximum === undefined ? '' : `, at most ${maximum}`;
  return maximum === undefined ? `, at least ${minimum}` : `, ${minimum} to ${maximum}`;
}

function escaped(text) {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ').replaceAll('<', '&lt;');
}
