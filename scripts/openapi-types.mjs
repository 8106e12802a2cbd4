/** TypeScript types of the management API's OpenAPI document, as libs/client stores them. */
import openapiTS, { astToString } from 'openapi-typescript';

const HEAD = `/**
 * What the management API takes and answers, made of its OpenAPI document: \`npm run client-types\`.
 * @generated
 */
`;

/** @param document response of GET /docs-json */
export async function openapiTypes(document) {
  const nodes = await openapiTS(document, { alphabetize: true });
  return `${HEAD}${astToString(nodes)}`;
}
