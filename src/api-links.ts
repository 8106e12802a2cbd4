import type { OpenAPIObject } from '@nestjs/swagger';

type LinkedOperation = NonNullable<OpenAPIObject['paths'][string]['post']>;
type LinkedAnswer = { content?: Record<string, { schema?: { $ref?: string } }>; links?: object };

/** Members of answers that name a created object. */
const NAMING = ['id', 'name', 'runId', 'conversationId', 'brainstormId'] as const;
/** Paths whose POST creates objects of another collection. */
const COLLECTIONS: Readonly<Record<string, string>> = {
  '/api/workflows/{name}/runs': '/api/runs',
  '/api/runs/{id}/rerun': '/api/runs',
};

/**
 * Adds links to answers that create an object: each names an operation on that object, with the id or name from the
 * answer. Programs that test or explore the API follow them.
 */
export function linkOperations(document: OpenAPIObject): void {
  for (const [path, { post }] of Object.entries(document.paths)) {
    const answer = (post?.responses['201'] ?? post?.responses['202']) as LinkedAnswer | undefined;
    if (!answer) continue;
    const member = namingMember(document, answer);
    if (member === undefined) continue;
    const links = linksTo(document, COLLECTIONS[path] ?? path, `$response.body#/${member}`);
    if (Object.keys(links).length > 0) answer.links = links;
  }
}

function namingMember(document: OpenAPIObject, { content }: LinkedAnswer): string | undefined {
  const name = content?.['application/json']?.schema?.$ref?.split('/').at(-1) ?? '';
  const schema = document.components?.schemas?.[name] as { properties?: object } | undefined;
  return NAMING.find((it) => schema?.properties !== undefined && it in schema.properties);
}

/** Returns links to the operations on an object of a collection whose path has only the name of that object. */
function linksTo(document: OpenAPIObject, collection: string, value: string): Record<string, object> {
  const links: Record<string, object> = {};
  for (const [path, item] of Object.entries(document.paths)) {
    const parameter = /^\/\{(\w+)\}(\/[^{]*)?$/.exec(path.startsWith(collection) ? path.slice(collection.length) : '');
    if (!parameter?.[1]) continue;
    for (const operation of [item.get, item.put, item.post, item.delete] as (LinkedOperation | undefined)[])
      if (operation?.operationId)
        links[operation.operationId] = { operationId: operation.operationId, parameters: { [parameter[1]]: value } };
  }
  return links;
}
