package htmltree

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// outline writes a tree with all that its nodes hold.
func outline(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		depth := 0
		for up := c; up != n; up = up.Parent {
			depth++
		}
		fmt.Fprintf(&b, "%*d %q %q %q %d\n", depth, c.Type, c.Namespace, c.Data, c.Attr, c.DataAtom)
	}
	return b.String()
}

// A tree that is made where others were is the tree that it is anywhere.
func TestATreeIsNoneOfThoseThatWereInItsRoom(t *testing.T) {
	t.Parallel()
	var room Room
	many := strings.Repeat("<p class=a id=b>c", mostChunks*nodesAtOnce) // more than a room keeps
	pages := append([]string{many, strings.Repeat("<i a b c d e f g h i j>", 300), "<p>short"}, tokenPages...)
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		page := []byte(pages[r.IntN(len(pages))])
		fresh, err := Parse(page)
		again, failed := room.Parse(page)
		if fmt.Sprint(err) != fmt.Sprint(failed) {
			t.Fatalf("%.80q: %v, and not %v", page, failed, err)
		}
		if err == nil && len(page) < 1<<16 && outline(again) != outline(fresh) {
			t.Fatalf("%.80q: %s\nnot %s", page, outline(again), outline(fresh))
		}
	}
	room.Clear()
	if n := len(room.nodes.all); n > mostChunks {
		t.Errorf("%d pieces are kept", n)
	}
	for _, chunk := range room.nodes.all {
		for i := range chunk {
			if n := &chunk[i]; n.Data != "" || n.Parent != nil || n.FirstChild != nil || n.Attr != nil {
				t.Fatalf("%v is kept", n)
			}
		}
	}
}
