export function nodesPage(schema: object): string;
export function commandPage(help: (...args: string[]) => string | Promise<string>): Promise<string>;
