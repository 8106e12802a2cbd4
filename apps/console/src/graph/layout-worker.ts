import { layOutGraph, type GraphShape } from './layout.js';

/** Lays out a graph and posts the positions. */
addEventListener('message', ({ data }: MessageEvent<GraphShape>) => postMessage(layOutGraph(data)));
