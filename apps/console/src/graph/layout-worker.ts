import { layout, type Shape } from './layout.js';

/** Lays out a graph and posts the positions. */
addEventListener('message', ({ data }: MessageEvent<Shape>) => postMessage(layout(data)));
