package xmlschema

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAStoredURDIsWhatItsXMLSays(t *testing.T) {
	t.Parallel()
	g := newGenerator(11)
	for range orInShort(3000, 200) {
		canonical := g.urd().Canonical()
		want, err := NewDecoder(bytes.NewReader(canonical)).URD()
		if err != nil {
			continue // not one that is stored
		}
		compareStored(t, canonical, want)
	}
}

func compareStored(t *testing.T, canonical []byte, want *URD) {
	t.Helper()
	nodes, err := BuildTable(canonical)
	if err != nil {
		t.Fatal(err)
	}
	got, err := StoredURD(nodes)
	if err != nil {
		t.Fatalf("%s: %v", canonical, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s: %s", canonical, diff)
	}
}

func TestATableOfAnythingElseIsNoStoredURD(t *testing.T) {
	t.Parallel()
	for _, document := range []string{"<aci/>", "<a><urd/></a>", `<!-- no --><urd xmlns="urn:other"/>`, `<urd xmlns="urn:webrace:1"><depth level="x"/></urd>`} {
		nodes, err := BuildTable([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		if u, err := StoredURD(nodes); err == nil {
			t.Errorf("%s: %+v", document, u)
		}
	}
}

// A damaged table gives an error or a request, and never a panic; one of a canonical request gives that.
func FuzzStoredURD(f *testing.F) {
	g := newGenerator(12)
	for range 20 {
		nodes, err := BuildTable(g.urd().Canonical())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(nodes)
	}
	f.Fuzz(func(t *testing.T, nodes []byte) {
		u, err := StoredURD(nodes)
		if err != nil || u.Validate() != nil {
			return
		}
		compareStored(t, u.Canonical(), u)
	})
}
