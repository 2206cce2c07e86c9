package sparql

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// offers are what two documents and some others state: events with names in two languages, prices and places, one of
// which both name, blank nodes, and a chain of links.
func offers() string {
	var b strings.Builder
	const (
		schema = "http://schema.org/"
		typeOf = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
		xsd    = "http://www.w3.org/2001/XMLSchema#"
	)
	say := func(graph, format string, args ...any) {
		fmt.Fprintf(&b, format+" <https://example.org/%s> .\n", append(args, graph)...)
	}
	for i := range 12 {
		event := fmt.Sprintf("<https://example.org/#event%d>", i)
		say("events", "%s %s <%sEvent>", event, typeOf, schema)
		say("events", `%s <%sname> "Harbour day %d é \"%d\""@en`, event, schema, i, i)
		say("events", `%s <%sprice> "%d"^^<%sinteger>`, event, schema, 30*i, xsd)
		if i%3 > 0 {
			say("events", `%s <%slocation> <https://example.org/#%s>`, event, schema, []string{"", "port", "square"}[i%3])
		}
		say("events", "_:offer%d <%soffers> %s", i, schema, event)
		say(fmt.Sprintf("steps/%d", i%2), "<https://example.org/step/%d> <http://www.w3.org/2000/01/rdf-schema#seeAlso> <https://example.org/step/%d>", i, i+1)
	}
	for _, graph := range []string{"places", "events"} { // two say the same
		say(graph, `<https://example.org/#port> <%sname> "Port of Piraeus"@en`, schema)
	}
	say("places", `<https://example.org/#port> <%sname> "Hafen von Piräus"@de`, schema)
	say("places", `<https://example.org/#square> <%sname> "Square\twith a tab,\r\nand a line"`, schema)
	for _, place := range []string{"port", "square"} {
		say("places", "<https://example.org/#%s> %s <%sPlace>", place, typeOf, schema)
	}
	return b.String()
}

// Clients that people use get what rdflib itself answers over the exported N-Quads.
func TestClients(t *testing.T) {
	t.Parallel()
	python := testutil.Python(t, "rdflib, SPARQLWrapper", "python3-rdflib python3-sparqlwrapper")
	e := serving(t, defaults, offers())
	now, err := e.store.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer now.Close()
	var exported bytes.Buffer
	if err := now.Export(t.Context(), &exported); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "export.nq")
	if err := os.WriteFile(file, exported.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), python, "-W", "ignore", "testdata/clients.py", e.url, file, "testdata/clients.rq")
	var differs, says strings.Builder
	c.Stdout, c.Stderr = &differs, &says
	if err := c.Run(); err != nil || differs.Len() > 0 || !strings.Contains(says.String(), "20 queries, 0 without an answer") {
		t.Errorf("%v\n%s\n%s", err, &says, &differs)
	}
	t.Logf("%s", &says)
}
