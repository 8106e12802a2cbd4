/** Submits an HTML form (see foreign-page.mjs). */
export function submitForm(form: { url: string; type: string }): void;
export function sendScripts(to: { base: string; paths: string[] }): Promise<string[]>;
export function embed(url: string): Promise<void>;
export function goTo(url: string): void;
export function listen(to: { base: string; protocols: string[] }): Promise<('a frame' | 'refused')[]>;
