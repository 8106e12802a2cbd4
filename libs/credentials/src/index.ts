export { CREDENTIAL_MIGRATIONS } from './credential-migrations.js';
export { CredentialNamers } from './credential-namers.js';
export { CredentialsApiModule, CredentialsModule } from './credentials.module.js';
