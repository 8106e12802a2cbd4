import { layout, type Shape } from './layout.js';

/** Lays one graph out and answers with its places. */
addEventListener('message', ({ data }: MessageEvent<Shape>) => postMessage(layout(data)));
