export { CredentialStore } from './credential-store.js';
export { CREDENTIAL_MIGRATIONS } from './credential-table.js';
export { CredentialNamers } from './credentials.controller.js';
export { CredentialsApiModule, CredentialsModule } from './credentials.module.js';
export { findCredentialProblems } from './credential-kind.js';
