import type { Server } from 'node:net';

export function listenAnywhere(server: Server): Promise<number>;
export function freePort(): Promise<number>;
