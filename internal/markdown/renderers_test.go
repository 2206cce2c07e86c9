package markdown_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/markdown"
	"github.com/webrace/webrace/internal/testutil/npm"
)

// texts are those of the pieces that are no elements.
var texts = slices.DeleteFunc(slices.Clone(pieces), func(s string) bool { return s != "<" && strings.HasPrefix(s, "<") })

// nested returns running text, of which parts are marked, and parts of these, too.
func nested(r *rand.Rand, depth int) (page string) {
	for range 1 + r.IntN(4) {
		if depth == 0 || r.IntN(2) == 0 {
			for range 1 + r.IntN(4) {
				page += texts[r.IntN(len(texts))]
			}
			continue
		}
		name := []string{"b", "i", "s", "code", "a", "span"}[r.IntN(6)]
		page += "<" + name + " href=x>" + nested(r, depth-1) + "</" + name + ">"
	}
	return page
}

// renderByMarkdownIt renders each text of a list, and leaves HTML and links as they are.
const renderByMarkdownIt = `
const renderer = require(process.argv[1])({ html: true })
renderer.validateLink = () => true
const texts = JSON.parse(require("fs").readFileSync(0))
process.stdout.write(JSON.stringify(texts.map((text) => renderer.render(text))))
`

// TestRoundTripByAnotherRenderer: what markdown-it makes of the Markdown of random pages has the words and links of
// these, too, though it reads a few things otherwise than goldmark.
func TestRoundTripByAnotherRenderer(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it installs a package: not in short mode")
	}
	modules := npm.Install(t, "markdown-it@14.1.0")
	const pages = 30_000
	r := rand.New(rand.NewPCG(11, 12))
	var roots []*html.Node
	var written []string
	for range pages {
		root, err := htmltree.Parse([]byte("<p>" + nested(r, 3)))
		if err != nil {
			t.Fatal(err)
		}
		roots = append(roots, root)
		written = append(written, string(markdown.Append(nil, []*html.Node{root}, markdown.Options{Base: address})))
	}
	input, err := json.Marshal(written)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "node", "-e", renderByMarkdownIt, filepath.Join(modules, "node_modules", "markdown-it"))
	var told strings.Builder
	c.Stdin, c.Stderr = bytes.NewReader(input), &told
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &told)
	}
	var read []string
	if err := json.Unmarshal(out, &read); err != nil || len(read) != pages {
		t.Fatalf("%d pages are rendered, want %d: %v", len(read), pages, err)
	}
	bad := 0
	for i, root := range roots {
		want, got := readNode(t, root, address, true), readTree(t, []byte(read[i]), "", false)
		if hasOddAddress(root) { // that two libraries disagree on
			want.links, got.links = nil, nil
		}
		if wrong := difference(want, got); wrong != "" {
			t.Errorf("%q\nis rendered as\n%s\n%s", written[i], read[i], wrong)
			if bad++; bad > 8 {
				return
			}
		}
	}
}
