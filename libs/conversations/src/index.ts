export { type A2aEvent } from './a2a-event.js';
