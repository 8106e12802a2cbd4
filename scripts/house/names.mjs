/** Names of functions and types, read from the syntax trees of sources. */
import ts from 'typescript';
import { packageOf } from './sources.mjs';

const TWO_WORDS = /[a-z0-9][A-Z]|_/;
/** Maximum number of files that declare the same name: a search for a more frequent name finds too much. */
const MOST_FILES = 5;

/**
 * Returns the names that a source declares, each `{ name, path, line }`:
 * - functions: functions, methods, signatures of methods, and constants and properties that hold an arrow function
 * - types: classes, interfaces, type aliases and enums
 */
export function declaredNames({ path, text }) {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found = { functions: [], types: [] };
  const visit = (node) => {
    const kind = kindOf(node);
    if (kind) {
      const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
      found[kind].push({ name: node.name.text.replace(/^#/, ''), path, line });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** True if a name has one word: a search for it finds too much. */
export function isOneWord(name) {
  return !TWO_WORDS.test(name);
}

/** Returns each name that several packages declare as a type, with its places. */
export function sharedTypeNames(types) {
  return grouped(types).filter(({ places }) => new Set(places.map(({ path }) => packageOf(path))).size > 1);
}

/** Returns each name of functions in more than five files, with its places, unless it is a listed exception. */
export function widespreadNames(functions, exceptions) {
  return grouped(functions).filter(
    ({ name, places }) => new Set(places.map(({ path }) => path)).size > MOST_FILES && !Object.hasOwn(exceptions, name),
  );
}

function grouped(declarations) {
  const groups = Map.groupBy(declarations, ({ name }) => name);
  return [...groups].map(([name, places]) => ({ name, places }));
}

function kindOf(node) {
  if (!node.name || !(ts.isIdentifier(node.name) || ts.isPrivateIdentifier(node.name))) return undefined;
  if (isType(node)) return 'types';
  return isFunction(node) ? 'functions' : undefined;
}

function isType(node) {
  return (
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isEnumDeclaration(node)
  );
}

function isFunction(node) {
  if (ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node)) return holdsFunction(node);
  return ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isMethodSignature(node);
}

function holdsFunction({ initializer }) {
  return initializer !== undefined && (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer));
}
