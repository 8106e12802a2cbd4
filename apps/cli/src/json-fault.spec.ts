import { jsonFault } from './json-fault.js';

describe('jsonFault', () => {
  it.each([
    ['{"name": }', "Unexpected token '}' at line 1, column 10"],
    ['{\n "a": 1,\n "b" 2}', "Expected ':' after property name at line 3, column 6"],
    ['{"a":1,}', 'Expected double-quoted property name at line 1, column 8'],
    ['[1,\n2', "Expected ',' or ']' after array element at line 2, column 2"],
    ['{"a": tru}', "Unexpected token '}' at line 1, column 10"],
    ['', 'Unexpected end of JSON input at line 1, column 1'],
    ['// c\n{}', "Unexpected token '/' at line 1, column 1"],
    [`{"long":"${'x'.repeat(300)}",\n"b":1 "c":2}`, "Expected ',' or '}' after property value at line 2, column 7"],
  ])('says what is wrong and where: %j', (text, fault) => expect(jsonFault(text)).toBe(fault));

  it('finds nothing wrong with JSON', () => expect(jsonFault(' {"a": [1e3, "\\u00e4", null]}\n')).toBeUndefined());
});
