package testutil

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/xpath"
)

// expressions is how many expressions of a kind of document are held against libxml2.
var expressions = flag.Int("expressions", 300, "how many random XPath expressions are held against libxml2")

// XPathQuestion is an expression on one of the documents.
type XPathQuestion struct {
	Document   int
	Expression string
}

// XPathAnswer is what an expression gives, and what boolean makes of it. Nodes are called by how many elements
// and comments there are before them; the root is left out, which lxml does not show.
type XPathAnswer struct {
	Value string
	True  bool
	Error string
}

// lxmlProgram answers questions by lxml. Documents are as XML.
const lxmlProgram = `
import json, sys
from lxml import etree
given = json.load(sys.stdin)
documents = []
for text in given["documents"]:
    tree = etree.ElementTree(etree.fromstring(text.encode(), etree.XMLParser(huge_tree=True, strip_cdata=False)))
    top = tree.getroot()
    nodes = []
    before = top.getprevious()
    while before is not None:
        nodes.insert(0, before)
        before = before.getprevious()
    nodes += list(top.iter()) + list(top.itersiblings())
    documents.append((tree, nodes, {node: i for i, node in enumerate(nodes)}))
def name(node, number):
    if isinstance(node, tuple):
        return "namespace"
    if not isinstance(node, str):
        return str(number[node])
    at = str(number[node.getparent()])
    if node.is_attribute:
        return at + "@" + node.attrname
    return ("after " if node.is_tail else "in ") + at
answers = []
for q in given["questions"]:
    tree, nodes, number = documents[q["Document"]]
    try:
        value = tree.xpath(q["Expression"], namespaces=given["namespaces"] or None)
        true = tree.xpath("boolean(" + q["Expression"] + ")", namespaces=given["namespaces"] or None)
    except etree.XPathError as error:
        answers.append({"Error": str(error)})
        continue
    if isinstance(value, list):
        value = "nodes: " + ", ".join(name(node, number) for node in value)
    elif isinstance(value, bool):
        value = "true" if value else "false"
    elif isinstance(value, float):
        value = "number: %r" % value
    else:
        value = "string: " + value
    answers.append({"Value": value, "True": true})
json.dump(answers, sys.stdout)
`

// askLibxml2 has libxml2 answer questions. It skips the test where lxml is missing.
func askLibxml2(t *testing.T, documents []string, namespaces map[string]string, questions []XPathQuestion) (answers []XPathAnswer) {
	t.Helper()
	python := "/usr/bin/python3" // Debian's, which has Debian's packages
	if exec.Command(python, "-c", "import lxml.etree").Run() != nil {
		t.Skip("libxml2 is not here to compare with: install the Debian package python3-lxml")
	}
	given, err := json.Marshal(map[string]any{"documents": documents, "namespaces": namespaces, "questions": questions})
	if err != nil {
		t.Fatal(err)
	}
	var faults strings.Builder
	command := exec.CommandContext(t.Context(), python, "-c", lxmlProgram)
	command.Stdin, command.Stderr = bytes.NewReader(given), &faults
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, faults.String())
	}
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatal(err)
	}
	return answers
}

// evaluateXPath answers a question by the package xpath, from the document's element.
func evaluateXPath(t *testing.T, tree *xpath.Tree, expression string) (a XPathAnswer) {
	t.Helper()
	x, err := xpath.Compile(expression)
	if err != nil {
		return XPathAnswer{Error: err.Error()}
	}
	budget := &xpath.Budget{Context: t.Context(), Left: 1 << 28}
	err = xpath.Evaluate(func() {
		from := mustCompile("/*").Nodes(tree, 0, budget)[0] // as lxml does
		a.True = x.True(tree, from, budget)
		if x.Type() == xpath.NodeSet {
			a.Value = "nodes: " + strings.Join(nodeNames(tree, x.Nodes(tree, from, budget)), ", ")
			return
		}
		a.Value = x.Values(tree, from, budget)[0]
		switch x.Type() {
		case xpath.String:
			a.Value = "string: " + a.Value
		case xpath.Number:
			a.Value = "number: " + a.Value
		}
	})
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

func nodeNames(tree *xpath.Tree, nodes []xpath.Node) (all []string) {
	root := &xpath.Budget{Left: math.MaxInt}
	marks := mustCompile("//* | //comment()").Nodes(tree, 0, root)
	number := make(map[xpath.Node]int, len(marks))
	for i, n := range marks {
		number[n] = i
	}
	above, before := mustCompile(".."), mustCompile("(preceding-sibling::* | preceding-sibling::comment())[last()]")
	for _, n := range nodes {
		switch tree.Kind(n) {
		case xpath.Element, xpath.Comment:
			all = append(all, strconv.Itoa(number[n]))
		case xpath.Attribute:
			prefix, local := tree.Source.Name(n.Number(), n.Attribute())
			if space := tree.Source.Space(n.Number(), n.Attribute()); prefix != "" {
				local = "{" + space + "}" + local
			}
			all = append(all, fmt.Sprintf("%d@%s", number[xpath.NewNode(n.Number(), -1)], local))
		case xpath.Text:
			if left := before.Nodes(tree, n, root); len(left) > 0 {
				all = append(all, fmt.Sprintf("after %d", number[left[0]]))
				continue
			}
			all = append(all, fmt.Sprintf("in %d", number[above.Nodes(tree, n, root)[0]]))
		}
	}
	return all
}

func mustCompile(s string) *xpath.Expression {
	x, err := xpath.Compile(s)
	if err != nil {
		panic(err)
	}
	return x
}

// sameAnswer reports whether two answers are the same, but for the last digits of numbers.
func sameAnswer(a, b XPathAnswer) bool {
	if a.True != b.True || (a.Error != "") != (b.Error != "") {
		return false
	}
	x, isNumber := strings.CutPrefix(a.Value, "number: ")
	y, areNumbers := strings.CutPrefix(b.Value, "number: ")
	if !isNumber || !areNumbers {
		return a.Value == b.Value
	}
	m, _ := strconv.ParseFloat(x, 64)
	n, _ := strconv.ParseFloat(y, 64)
	return m == n || m != m && n != n || math.Abs(m-n) <= 1e-12*math.Abs(n)
}

// CompareXPath holds the evaluation of random expressions against libxml2. Trees are those of the documents.
func CompareXPath(t *testing.T, g *XPathGenerator, documents []string, trees []*xpath.Tree, namespaces map[string]string, expression func() string, also func(t *testing.T, q XPathQuestion, want XPathAnswer)) {
	t.Helper()
	questions := make([]XPathQuestion, *expressions)
	for i := range questions {
		questions[i] = XPathQuestion{g.IntN(len(documents)), expression()}
	}
	answers := askLibxml2(t, documents, namespaces, questions)
	different, empty, refused, reasons := 0, 0, 0, map[string]int{}
	for i, q := range questions {
		got, want := evaluateXPath(t, trees[q.Document], q.Expression), answers[i]
		if got.Error != "" {
			refused++
			reasons[got.Error]++
		}
		if want.Value == "nodes: " {
			empty++
		}
		if !sameAnswer(got, want) {
			if different++; different < 10 {
				t.Errorf("%s\n got %v\nwant %v\n of %.3000s", q.Expression, got, want, documents[q.Document])
			}
			continue
		}
		if also != nil {
			also(t, q, want)
		}
	}
	t.Logf("%d of %d expressions differ, refused are %d: %v; %d give no nodes", different, len(questions), refused, reasons, empty)
	if 100*refused >= len(questions) || 10*empty > 7*len(questions) {
		t.Errorf("the test tests little: %d expressions are refused, and %d give no nodes", refused, empty)
	}
}
