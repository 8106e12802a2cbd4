"""Serves a model over the OpenAI wire until standard input ends: model-server.py FILE.gguf"""

import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 8192
params.n_parallel = 1
# A small model runs on at every second open question; a whole state needs so much all the same.
params.n_predict = 3000
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
