import { Link } from 'wouter';
import type { Graph } from '../graph/graph.js';
import { INIT_TEMPLATES } from './init-templates.js';
import { BOX, pictureOf } from './template-picture.js';

/** CSS classes of a node's box in the picture, by the node's type. */
const FILLS: Readonly<Record<string, string>> = {
  input: 'fill-node-input',
  agent: 'fill-node-agent',
  tool: 'fill-node-tool',
  output: 'fill-node-output',
};

/** Shows the templates of workflows, each as a link to a new workflow. @param dense true for one narrow column */
export function TemplateGallery({ dense = false }: { dense?: boolean }) {
  return (
    <ul aria-label="Templates" className={`grid gap-3 text-left ${dense ? '' : 'sm:grid-cols-2 xl:grid-cols-3'}`}>
      {INIT_TEMPLATES.map(({ definition: { name, description, ...graph } }) => (
        <li key={name}>
          <Link
            href={`/new/${name}`}
            data-template={name}
            className="flex h-full flex-col gap-2 rounded-lg border bg-card p-3 hover:border-primary hover:bg-muted/50"
          >
            <TemplatePicture graph={graph} />
            <span className="text-sm font-medium">{name}</span>
            <span className="text-xs text-muted-foreground">{description}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function TemplatePicture({ graph }: { graph: Graph }) {
  const { width, height, boxes, lines } = pictureOf(graph);
  return (
    <svg aria-hidden viewBox={`0 0 ${width} ${height}`} className="h-14 w-full rounded-md bg-muted/60 p-2">
      {lines.map((line) => (
        <path key={line} d={line} className="fill-none stroke-muted-foreground/60" />
      ))}
      {boxes.map(({ id, type, x, y }) => (
        <rect
          key={id}
          x={x}
          y={y}
          width={BOX.width}
          height={BOX.height}
          rx={3}
          className={FILLS[type] ?? 'fill-muted-foreground'}
        />
      ))}
    </svg>
  );
}
