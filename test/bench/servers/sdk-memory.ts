// The official SDK's Express server with its store in memory.
import { InMemoryTaskStore } from '@a2a-js/sdk/server';
import { serveSdkAgent } from './sdk-agent.ts';

await serveSdkAgent(new InMemoryTaskStore());
