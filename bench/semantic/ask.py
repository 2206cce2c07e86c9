# Reads a file of N-Triples, and answers queries: one a line on standard input, a JSON string, and one a line on standard
# output, with its rows and the least CPU time that it took.
import json
import sys
import time

import rdflib

rdflib.NORMALIZE_LITERALS = False


def say(answer):
    print(json.dumps(answer), flush=True)


began = time.process_time()
graph = rdflib.Graph()
graph.parse(sys.argv[1], format="nt")
say({"Version": rdflib.__version__, "Triples": len(graph), "Seconds": time.process_time() - began})

for line in sys.stdin:
    query = json.loads(line)
    least, began = None, time.process_time()
    while least is None or time.process_time() - began < 1:
        start = time.process_time()
        rows = [" ".join(term.n3() for term in row) for row in graph.query(query)]
        took = time.process_time() - start
        least = took if least is None else min(least, took)
    say({"Rows": rows, "Microseconds": least * 1e6})
