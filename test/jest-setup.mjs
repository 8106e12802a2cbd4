import 'reflect-metadata';
// Evaluated first: CommonJS packages that require Nest would otherwise meet it half-loaded.
await import('@nestjs/common');
await import('@nestjs/core');
