export function openapiTypes(document: object): Promise<string>;
