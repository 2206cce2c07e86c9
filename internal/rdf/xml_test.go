package rdf_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/rdf"
)

var changed = flag.Int("xml-changes", 200, "how many changed documents are read by libxml2, too")

// What libxml2 refuses of documents that are one change away from a good one is refused, and nothing else. The changes
// are behind the document type: of that, no more than entities is looked at.
func TestXMLIsRefusedWhereLibxml2Does(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("xmllint"); err != nil {
		t.Skip(err)
	}
	good, err := os.ReadFile("testdata/document.rdf")
	if err != nil {
		t.Fatal(err)
	}
	good = bytes.ReplaceAll(good, []byte("http://é/"), []byte("http://e/")) // which libxml2 takes for no URI
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(3, 4))
	documents := map[string][]byte{}
	arguments := []string{"--noout", "--nonet"}
	for i := range *changed {
		name := filepath.Join(dir, fmt.Sprint(i, ".xml"))
		documents[name] = change(random, good)
		if err := os.WriteFile(name, documents[name], 0o600); err != nil {
			t.Fatal(err)
		}
		arguments = append(arguments, name)
	}
	complaints, _ := exec.CommandContext(t.Context(), "xmllint", arguments...).CombinedOutput()
	refused := map[string]string{}
	for line := range strings.Lines(string(complaints)) {
		name, says, _ := strings.Cut(line, ":")
		if refused[name] == "" && strings.Contains(says, " error : ") && !strings.HasSuffix(says, "is not a valid URI\n") {
			refused[name] = says
		}
	}
	for name, body := range documents {
		if err := rdf.WellFormed(body); (err != nil) != (refused[name] != "") {
			t.Errorf("%v, where libxml2 says %q of\n%s", err, refused[name], body)
		}
	}
	if len(refused) == 0 || len(refused) == len(documents) {
		t.Errorf("libxml2 refuses %d of %d documents", len(refused), len(documents))
	}
}

// An end of line is one \n, whether it was \n, \r or both; what stands in two sections has no end in common.
func TestLineEndsInXML(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"a\r\nb\rc\n\r": `"a\nb\nc\n\n"`, "a\r&#10;b": `"a\n\nb"`, "<![CDATA[a\r\nb]]>": `"a\nb"`,
		"<![CDATA[a\r]]><![CDATA[\nb]]>": `"a\n\nb"`, "<![CDATA[a\r]]>\nb": `"a\n\nb"`, "<![CDATA[a\r]]><!--\n--><![CDATA[\nb]]>": `"a\n\nb"`,
	} {
		quads, err := read(strings.NewReader(xmlHead+"<b><p>"+content+"</p></b></rdf:RDF>"), rdf.RDFXML, "")
		if err != nil || len(quads) != 2 || string(quads[1].Object) != want {
			t.Errorf("%q is read as %v, %v, want %s", content, quads, err, want)
		}
	}
	const literal = "<!--a\r--><!--\nb\r\n--><?c d\r?><?e \n?>"
	quads, err := read(strings.NewReader(xmlHead+`<b><p rdf:parseType="Literal">`+literal+"</p></b></rdf:RDF>"), rdf.RDFXML, "")
	if err != nil || len(quads) != 2 || rdf.Value(quads[1].Object) != "<!--a\n--><!--\nb\n--><?c d\n?><?e?>" {
		t.Errorf("%q is read as %q, %v", literal, quads, err)
	}
}

// change returns a document with one change.
func change(random *rand.Rand, good []byte) []byte {
	tokens := []string{"<", ">", "&", ";", "/", "\"", "'", "=", "--", "]]>", "<!--", "<?", "?>", "<![CDATA[", " ", ":", "x", "1",
		"&#0;", "&#x41;", "&ex;", "<a>", "</a>", "\x01", "é", "xmlns:y='z:'", "xmlns", "xml", " xmlns:x='http://other/'", "<!DOCTYPE a>", "\r"}
	body := bytes.Index(good, []byte("<rdf:RDF"))
	at := body + random.IntN(len(good)-body)
	end := at
	switch random.IntN(3) {
	case 0:
		end = min(len(good), at+1+random.IntN(3))
	case 1:
		end = at + 1
	}
	token := tokens[random.IntN(len(tokens))]
	if random.IntN(3) == 0 {
		token = ""
	}
	return bytes.Join([][]byte{good[:at], good[end:]}, []byte(token))
}
