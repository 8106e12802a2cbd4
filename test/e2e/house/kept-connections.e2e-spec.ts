import { createServer } from 'node:http';
import express from 'express';

describe('an HTTP server of a test', () => {
  it('keeps idle connections longer than a process of tests stands still', () => {
    expect(createServer().keepAliveTimeout).toBe(60_000);
    expect(express().listen(0, '127.0.0.1').close().keepAliveTimeout).toBe(60_000);
  });

  it('keeps idle connections as long as it says itself', () => {
    expect(createServer({ keepAliveTimeout: 7 }).keepAliveTimeout).toBe(7);
  });
});
