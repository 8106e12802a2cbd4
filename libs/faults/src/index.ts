export { type FaultKind, ParleyFault, PublicFault, UnavailableFault } from './parley-fault.js';
