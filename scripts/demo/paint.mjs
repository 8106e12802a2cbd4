/** True if the output is a terminal that supports colors and the user has not disabled them. */

const coloured = process.stdout.isTTY && !process.env.NO_COLOR && process.env.TERM !== 'dumb';

const paint = (code) => (text) => (coloured ? `\u001b[${code}m${text}\u001b[0m` : text);

export const bold = paint(1);
export const dim = paint(2);
export const red = paint(31);
export const green = paint(32);
export const yellow = paint(33);
export const blue = paint(34);
export const magenta = paint(35);
export const cyan = paint(36);
