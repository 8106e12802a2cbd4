#!/usr/bin/env bash
# A Pydantic model in the state of a LangGraph 1.2.24 graph (Python) changes when the graph resumes from a checkpoint.
# The checkpoint has the names of the fields, and the constructor of the model reads it, which wants the aliases. With
# Pydantic's alias generator for camel case, a field with a default gets this default, and neither an error nor a
# warning says so. A "before" validator that converts a value converts it once more. What a person has approved at an
# interrupt is thus not what the next node works with.
# Exits with 1 if the packages behave differently. Needs Python 3.10 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check \
  langgraph==1.2.24 langgraph-checkpoint==4.3.2 pydantic==2.14.4
cat > try.py <<'END'
import sys
from importlib.metadata import version
from typing import TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from pydantic import BaseModel, ConfigDict, field_validator
from pydantic.alias_generators import to_camel


class Order(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)
    item_count: int = 1


class Price(BaseModel):
    cents: int

    @field_validator('cents', mode='before')
    @classmethod
    def from_amount(cls, amount):
        """Returns the cents of an amount such as "12.50"."""
        return round(float(amount) * 100)


class State(TypedDict, total=False):
    order: Order
    price: Price
    shown: str
    charged: str


def read_order(state):
    return {'order': Order.model_validate_json('{"itemCount": 3}'), 'price': Price(cents='12.50')}


def show(state):
    return {'shown': f'{state["order"].item_count} items, {state["price"].cents} cents'}


def charge(state):
    interrupt(state['shown'])
    return {'charged': f'{state["order"].item_count} items, {state["price"].cents} cents'}


graph = StateGraph(State)
for node in (read_order, show, charge):
    graph.add_node(node.__name__, node)
graph.add_edge(START, 'read_order')
graph.add_edge('read_order', 'show')
graph.add_edge('show', 'charge')
graph.add_edge('charge', END)
known = [('__main__', 'Order'), ('__main__', 'Price')]
app = graph.compile(checkpointer=InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=known)))
thread = {'configurable': {'thread_id': 'order'}}
asked = app.invoke({}, thread)['__interrupt__'][0].value
charged = app.invoke(Command(resume='approved'), thread)['charged']
print(f'langgraph {version("langgraph")}, langgraph-checkpoint {version("langgraph-checkpoint")}, '
      f'pydantic {version("pydantic")}')
print(f'expected: {asked} before the interrupt and after it')
print(f'observed: {asked} before the interrupt, {charged} after it')
sys.exit(0 if (asked, charged) == ('3 items, 1250 cents', '1 items, 125000 cents') else 1)
END
venv/bin/python try.py 2> errors.txt || { cat errors.txt; exit 1; }
[ ! -s errors.txt ]
