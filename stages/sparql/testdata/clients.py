# Asks an endpoint what rdflib itself answers over the same N-Quads, by way of the clients rdflib and SPARQLWrapper.
# Each line that it writes is something that differs.
import sys

import rdflib
from rdflib.compare import isomorphic
from rdflib.plugins.stores.sparqlstore import SPARQLStore
import SPARQLWrapper

endpoint, nquads = sys.argv[1:3]
queries = [q.strip() for q in open(sys.argv[3], encoding="utf-8").read().split("\n---\n")]

own = rdflib.ConjunctiveGraph()
own.parse(nquads, format="nquads")


def terms(row):
    return tuple("" if t is None else t.n3() for t in row)


# What is not sorted by the query has no order.
def answer(result, query):
    if result.type == "ASK":
        return result.askAnswer
    if result.type == "CONSTRUCT":
        return result.graph
    rows = [terms(row) for row in result]
    return rows if "ORDER BY" in query else sorted(rows)


def of_json(result, query):
    def term(b):
        if b is None:
            return ""
        if b["type"] == "uri":
            return rdflib.URIRef(b["value"]).n3()
        if b["type"] == "bnode":
            return rdflib.BNode(b["value"]).n3()
        return rdflib.Literal(b["value"], lang=b.get("xml:lang"), datatype=b.get("datatype")).n3()

    if "boolean" in result:
        return result["boolean"]
    rows = [tuple(term(b.get(v)) for v in result["head"]["vars"]) for b in result["results"]["bindings"]]
    return rows if "ORDER BY" in query else sorted(rows)


def same(a, b):
    if isinstance(a, rdflib.Graph):
        return len(a) > 0 and isomorphic(a, b)
    return a == b


def compare(way, query, want, got):
    global asked
    asked += 1
    if not same(want, got):
        print("%s: %s\n  want %s\n  got  %s" % (way, query, want, got))


asked = 0
empty = 0
for query in queries:
    want = answer(own.query(query), query)
    empty += want == []
    graph = isinstance(want, rdflib.Graph)
    for method in ("GET", "POST", "POST_FORM"):
        for returned in ("xml",) if graph else ("xml", "json"):
            store = SPARQLStore(endpoint, method=method, returnFormat=returned)
            got = answer(rdflib.ConjunctiveGraph(store=store).query(query), query)
            compare("rdflib, %s, %s" % (method, returned), query, want, got)
    for method in ("GET", "POST"):
        client = SPARQLWrapper.SPARQLWrapper(endpoint)
        client.setMethod(method)
        client.setQuery(query)
        if graph:
            for returned in (SPARQLWrapper.XML, SPARQLWrapper.TURTLE):
                client.setReturnFormat(returned)
                got = client.query().convert()
                if not isinstance(got, rdflib.Graph):
                    got = rdflib.Graph().parse(data=got, format="turtle")
                compare("SPARQLWrapper, %s, %s" % (method, returned), query, want, got)
        else:
            client.setReturnFormat(SPARQLWrapper.JSON)
            compare("SPARQLWrapper, " + method, query, want, of_json(client.query().convert(), query))
    direct = SPARQLWrapper.SPARQLWrapper(endpoint)
    direct.setMethod("POST")
    direct.setRequestMethod(SPARQLWrapper.POSTDIRECTLY)
    direct.setQuery(query)
    if not graph:
        direct.setReturnFormat(SPARQLWrapper.JSON)
        compare("SPARQLWrapper, directly", query, want, of_json(direct.query().convert(), query))

remote = rdflib.ConjunctiveGraph(store=SPARQLStore(endpoint))
compare("len", "", len(own), len(remote))
names = lambda g: sorted(c.identifier.n3() for c in g.contexts() if not isinstance(c.identifier, rdflib.BNode))
compare("contexts", "", names(own), names(remote))
for name in names(own):
    at = rdflib.URIRef(name[1:-1])
    there = SPARQLStore(endpoint).query("SELECT ?s ?p ?o { ?s ?p ?o FILTER(!isBlank(?s) && !isBlank(?o)) }", queryGraph=at)
    here = [t for t in own.get_context(at) if not any(isinstance(x, rdflib.BNode) for x in t)]
    compare("the graph " + name, "", sorted(terms(t) for t in here), sorted(terms(t) for t in there))
print("%d queries, %d without an answer, asked %d times" % (len(queries), empty, asked), file=sys.stderr)
