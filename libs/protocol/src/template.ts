const REFERENCE = /\{\{(\w+(?:\.\w+)*)\}\}/g;

/**
 * The text that a reference stands for; `undefined` leaves it as it is written.
 * `{{a.b.c}}` asks for the id `a` with the suffix `['b', 'c']`.
 */
export type TemplateResolver = (id: string, suffix: readonly string[]) => string | undefined;

/** Replaces each `{{reference}}` of a text (row D1). What a reference resolves to is not read again (row D9). */
export function renderTemplate(text: string, resolve: TemplateResolver): string {
  return text.replace(REFERENCE, (written, path: string) => {
    const [id = '', ...suffix] = path.split('.');
    return resolve(id, suffix) ?? written;
  });
}
